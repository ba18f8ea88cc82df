// The table of segments, and its edits.
#include "ring/slot_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.hpp"

namespace lifering::ring_detail {

namespace {

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

}  // namespace

slot_table::slot_table(unsigned bits, std::size_t slots) : bits_(bits) {
  if (slots <= 65536) {
    narrow_ = base::pages<std::uint16_t>(size());
  } else {
    wide_ = base::pages<std::uint32_t>(size());
  }
}

slot_table::slot_table(const slot_table& other, std::size_t slots) : bits_(other.bits_) {
  if (slots <= 65536 && other.is_narrow()) {
    narrow_ = base::pages<std::uint16_t>(size());
    std::memcpy(narrow_.data(), other.narrow_.data(), bytes());
  } else {
    // Once wide, a table stays so, lest a node that comes and goes change it each time.
    wide_ = base::pages<std::uint32_t>(size());
    for (std::uint32_t segment = 0; segment < size(); ++segment) {
      wide_[segment] = other.get(segment);
    }
  }
}

void slot_table::fill(std::uint32_t slot) noexcept {
  if (is_narrow()) {
    std::fill_n(narrow_.data(), size(), static_cast<std::uint16_t>(slot));
  } else {
    std::fill_n(wide_.data(), size(), slot);
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
  if (is_narrow() && other.is_narrow()) {
    return count(narrow_.data(), other.narrow_.data());
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
    std::uint32_t hits = slots.size() > few || !is_narrow() ? 1 : 0;
    for (std::size_t i = 0; hits == 0 && i < slots.size(); ++i) {
      const auto slot = static_cast<std::uint16_t>(slots[i]);
      const std::uint16_t* some = narrow_.data() + first;
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

slot_state edit_slots(const slot_state& old, const slot_changes& changes, const rendezvous& nodes,
                      std::size_t slots) {
  // Each node is asked for each segment that is left behind; beyond so many leaves, the claims of a
  // build cost less, whatever the number of nodes.
  constexpr std::size_t many_leaves = 128;
  const bool rather_build =
      changes.losing.size() > many_leaves ||
      (nodes.of_equal_weights() && nodes.size() <= few_nodes && !changes.gaining.empty());
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
