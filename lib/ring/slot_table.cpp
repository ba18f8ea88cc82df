// Building and editing the table of segments.
#include "ring/slot_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.hpp"

namespace lifering::ring_detail {

namespace {

constexpr std::uint32_t nobody = 0;

std::uint64_t exact_worst(const slot_table& table, const rendezvous& nodes,
                          const std::vector<std::uint32_t>& node_of) {
  std::uint64_t worst = 0;
  for (std::uint32_t segment = 0; segment < table.size(); ++segment) {
    worst = std::max(worst, nodes.of(node_of[table.get(segment)], segment).score);
  }
  return worst;
}

std::vector<std::uint32_t> nodes_by_slot(const rendezvous& nodes, std::size_t slots) {
  std::vector<std::uint32_t> result(slots, ~std::uint32_t{0});
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    result[nodes.slot(node)] = node;
  }
  return result;
}

/// For nodes of equal weights: each claims the segments of its first ranks, then all are asked for
/// the segments that nobody claimed. A claim is written where the claims are scattered, which costs
/// as much as to ask some eight nodes.
void fill_by_rank(slot_state& state, const rendezvous& nodes) {
  struct claim {
    std::uint32_t rank = ~std::uint32_t{0};
    std::uint32_t node = 0;
  };
  const std::uint32_t segments = nodes.segments();
  // With so many ranks each, one segment in some 2^halvings stays unclaimed.
  const auto halvings = static_cast<std::uint64_t>(std::bit_width(nodes.size() / 16));
  const auto end = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(segments, halvings * segments * 7 / 10 / nodes.size()));
  std::vector<claim> claims(end > 0 ? segments : 0);
  for (std::uint32_t node = 0; node < nodes.size() && end > 0; ++node) {
    const inverse_permutation order{nodes.order(node)};
    for (std::uint32_t rank = 0; rank < end; ++rank) {
      const std::uint32_t segment = order.segment(rank, nodes.bits());
      claim& held = claims[segment];
      if (rank < held.rank || (rank == held.rank && nodes.prefers(segment, node, held.node))) {
        held = {rank, node};
      }
    }
  }
  std::vector<std::uint32_t> rest;
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    if (end > 0 && claims[segment].rank < end) {
      state.table.set(segment, nodes.slot(claims[segment].node));
    } else {
      rest.push_back(segment);
    }
  }
  std::uint32_t worst = end;
  nodes.decide(rest, [&](std::uint32_t segment, std::uint32_t node, std::uint32_t rank) {
    state.table.set(segment, nodes.slot(node));
    worst = std::max(worst, rank);
  });
  state.worst = nodes.greatest_score(0, worst);
}

}  // namespace

slot_table::slot_table(unsigned bits, std::size_t slots, std::uint32_t slot) : bits_(bits) {
  if (slots <= 65536) {
    narrow_ = std::make_unique_for_overwrite<std::uint16_t[]>(size());
    std::fill_n(narrow_.get(), size(), static_cast<std::uint16_t>(slot));
  } else {
    wide_ = std::make_unique_for_overwrite<std::uint32_t[]>(size());
    std::fill_n(wide_.get(), size(), slot);
  }
}

slot_table::slot_table(const slot_table& other, std::size_t slots) : bits_(other.bits_) {
  if (slots <= 65536 && other.narrow_ != nullptr) {
    narrow_ = std::make_unique_for_overwrite<std::uint16_t[]>(size());
    std::memcpy(narrow_.get(), other.narrow_.get(), bytes());
  } else {
    // Once wide, a table stays so, lest a node that comes and goes change it each time.
    wide_ = std::make_unique_for_overwrite<std::uint32_t[]>(size());
    for (std::uint32_t segment = 0; segment < size(); ++segment) {
      wide_[segment] = other.get(segment);
    }
  }
}

std::size_t slot_table::differences(const slot_table& other) const noexcept {
  const auto count = [size = size()](const auto* a, const auto* b) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      sum += a[i] != b[i] ? 1U : 0U;
    }
    return std::size_t{sum};
  };
  if (narrow_ != nullptr && other.narrow_ != nullptr) {
    return count(narrow_.get(), other.narrow_.get());
  }
  std::size_t sum = 0;
  for (std::uint32_t segment = 0; segment < size(); ++segment) {
    sum += get(segment) != other.get(segment) ? 1U : 0U;
  }
  return sum;
}

std::vector<std::uint32_t> slot_table::segments_of(const std::vector<std::uint32_t>& slots) const {
  std::vector<std::uint32_t> segments;
  if (slots.empty()) {
    return segments;
  }
  std::vector<char> wanted(*std::max_element(slots.begin(), slots.end()) + std::size_t{1});
  for (const std::uint32_t slot : slots) {
    wanted[slot] = 1;
  }
  const auto is_one = [&wanted](std::uint32_t slot) {
    return slot < wanted.size() && wanted[slot] != 0;
  };
  // A block at a time is asked whether it holds any, which takes vector instructions if the slots
  // are few; most blocks hold none.
  constexpr std::uint32_t block = 64;
  constexpr std::size_t few = 4;
  static_assert((1U << 10) % block == 0, "the smallest table");
  for (std::uint32_t first = 0; first < size(); first += block) {
    std::uint32_t hits = slots.size() > few || narrow_ == nullptr ? 1 : 0;
    for (std::size_t i = 0; hits == 0 && i < slots.size(); ++i) {
      const auto slot = static_cast<std::uint16_t>(slots[i]);
      const std::uint16_t* some = narrow_.get() + first;
      for (std::uint32_t k = 0; k < block; ++k) {
        hits += some[k] == slot ? 1U : 0U;
      }
    }
    for (std::uint32_t k = 0; hits != 0 && k < block; ++k) {
      if (is_one(get(first + k))) {
        segments.push_back(first + k);
      }
    }
  }
  return segments;
}

slot_state build_slots(const rendezvous& nodes, std::size_t slots) {
  slot_state state{slot_table{nodes.bits(), slots, nobody}, 0, nodes.weights()};
  if (nodes.size() == 0) {
    return state;
  }
  if (nodes.of_equal_weights()) {
    fill_by_rank(state, nodes);
    return state;
  }
  // Each node claims the segments of its first ranks, up to a score that leaves one segment in some
  // N / 32 unclaimed: the chance that a segment has no score below t is 2^(-t * weights). Where a
  // claim was made, no rank beyond the limit can be better. The rest asks every node.
  const auto halvings = static_cast<std::uint64_t>(std::bit_width(nodes.size() / 32));
  const std::uint64_t limit = (halvings << (log_places + 17)) / nodes.weights();
  std::vector<std::uint64_t> best_score(state.table.size(), ~std::uint64_t{0});
  std::vector<std::uint32_t> best_node(state.table.size());
  for (std::uint32_t node = 0; halvings > 0 && node < nodes.size(); ++node) {
    const inverse_permutation order{nodes.order(node)};
    const std::uint32_t end = nodes.rank_beyond(node, limit);
    for (std::uint32_t rank = 0; rank < end; ++rank) {
      const std::uint32_t segment = order.segment(rank, nodes.bits());
      const fit claim = nodes.of(node, segment);
      if (claim.score < best_score[segment] ||
          (claim.score == best_score[segment] && claim < nodes.of(best_node[segment], segment))) {
        best_score[segment] = claim.score;
        best_node[segment] = node;
      }
    }
  }
  state.worst = limit;
  for (std::uint32_t segment = 0; segment < state.table.size(); ++segment) {
    if (best_score[segment] > limit) {
      fit best;
      nodes.nearest(segment, {&best, 1});
      best_node[segment] = best.node;
      state.worst = std::max(state.worst, best.score);
    }
    state.table.set(segment, nodes.slot(best_node[segment]));
  }
  return state;
}

slot_state edit_slots(const slot_state& old, const slot_changes& changes, const rendezvous& nodes,
                      std::size_t slots) {
  // Of few nodes a newcomer would have to look at most segments: all are sooner decided anew.
  constexpr std::size_t few = 16;
  const bool rather_build =
      nodes.of_equal_weights() && nodes.size() <= few && !changes.gaining.empty();
  if (nodes.size() == 0 || old.table.size() != nodes.segments() || old.worst_weights == 0 ||
      rather_build) {
    return build_slots(nodes, slots);
  }
  slot_state state{slot_table{old.table, slots}, old.worst, old.worst_weights};
  const std::vector<std::uint32_t> node_of = nodes_by_slot(nodes, slots);

  const std::vector<std::uint32_t> orphans = old.table.segments_of(changes.losing);
  if (nodes.of_equal_weights()) {
    nodes.decide(orphans, [&](std::uint32_t segment, std::uint32_t node, std::uint32_t rank) {
      state.table.set(segment, nodes.slot(node));
      state.worst = std::max(state.worst, nodes.greatest_score(node, rank));
    });
  } else {
    for (const std::uint32_t segment : orphans) {
      fit best;
      nodes.nearest(segment, {&best, 1});
      state.table.set(segment, nodes.slot(best.node));
      state.worst = std::max(state.worst, best.score);
    }
  }

  for (const std::uint32_t node : changes.gaining) {
    const inverse_permutation order{nodes.order(node)};
    const std::uint32_t end = nodes.rank_beyond(node, state.worst);
    for (std::uint32_t rank = 0; rank < end; ++rank) {
      const std::uint32_t segment = order.segment(rank, nodes.bits());
      const std::uint32_t owner = node_of[state.table.get(segment)];
      if (owner != node && nodes.prefers(segment, node, owner)) {
        state.table.set(segment, nodes.slot(node));
      }
    }
  }

  if (nodes.weights() - nodes.weights() / 5 >= state.worst_weights) {
    state.worst = exact_worst(state.table, nodes, node_of);
    state.worst_weights = nodes.weights();
  }
  return state;
}

}  // namespace lifering::ring_detail
