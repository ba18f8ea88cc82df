// The table of segments of a set of nodes, from nothing.
//
// Each node first claims the segments that it fits best, which it knows without looking at others;
// then all nodes are asked for the few segments that nobody claimed. With more claims fewer are
// left, and the sum of both is least where one segment in some N is left.
#include <algorithm>
#include <array>
#include <bit>

#include "base/check.hpp"
#include "base/pages.hpp"
#include "ring/slot_table.hpp"

namespace lifering::ring_detail {
namespace {

constexpr std::uint32_t nobody = 0;

/// For nodes of equal weights, where the smallest rank wins.
class rank_build {
 public:
  rank_build(const rendezvous& nodes, slot_table& table) : nodes_(nodes), table_(table) {
    // With so many ranks each, one segment in some 2^halvings stays unclaimed. Where so few nodes
    // are to be asked, that is quicker than to claim.
    constexpr std::size_t cheap_to_ask = 16;
    const auto halvings = static_cast<std::uint64_t>(
        nodes.size() < cheap_to_ask ? 0 : std::bit_width(nodes.size() / 8));
    const std::uint64_t segments = nodes.segments();
    end_ = static_cast<std::uint32_t>(halvings * segments * 7 / 10 / nodes.size());
    // A claim is a rank before a node, all bits turned over: the greatest wins, and 0 is nobody's.
    // The product of both is about 0.7 * halvings * segments, at most 2^22 segments: in 32 bits
    // even with 2^20 nodes.
    node_bits_ = static_cast<unsigned>(std::bit_width(nodes.size() - 1));
    LIFERING_CHECK((std::uint64_t{end_} + 1) << node_bits_ <= ~std::uint32_t{0});
    if (end_ > 0) claims_ = base::pages<std::uint32_t>(segments);
  }

  /// Fills the table, and returns the greatest rank by which a segment was won, or more.
  std::uint32_t run() {
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      claim_first_ranks(node);
    std::uint32_t worst = end_;
    std::array<std::uint32_t, 64 * equal_ranks_batch> rest;
    std::size_t count = 0;
    const auto ask_all = [&] {
      nodes_.decide({rest.data(), count},
                    [&](std::uint32_t segment, std::uint32_t node, std::uint32_t rank) {
                      table_.set(segment, nodes_.slot(node));
                      worst = std::max(worst, rank);
                    });
      count = 0;
    };
    for (std::uint32_t segment = 0; segment < nodes_.segments(); ++segment) {
      const std::uint32_t claim = end_ > 0 ? claims_[segment] : nobody;
      if (claim != nobody) {
        table_.set(segment, nodes_.slot(node_of(claim)));
        continue;
      }
      rest[count++] = segment;
      if (count == rest.size()) ask_all();
    }
    ask_all();
    return worst;
  }

 private:
  void claim_first_ranks(std::uint32_t node) {
    const inverse_permutation order{nodes_.order(node)};
    std::uint32_t segments[equal_ranks_batch];
    for (std::uint32_t first = 0; first < end_; first += equal_ranks_batch) {
      segments_by_rank(order, first, nodes_.bits(), segments);
      const std::size_t count = std::min<std::size_t>(equal_ranks_batch, end_ - first);
      for (std::uint32_t i = 0; i < count; ++i)
        claim(segments[i], ~(((first + i) << node_bits_) | node));
    }
  }

  /// Without a branch that can't be foreseen: whose rank is smaller is as good as random.
  void claim(std::uint32_t segment, std::uint32_t ours) {
    std::uint32_t& held = claims_[segment];
    if ((held ^ ours) >> node_bits_ == 0) [[unlikely]] {  // Of equal ranks, the fractions decide.
      if (nodes_.prefers(segment, node_of(ours), node_of(held))) held = ours;
      return;
    }
    held = std::max(held, ours);
  }

  std::uint32_t node_of(std::uint32_t claim) const noexcept {
    return ~claim & ((std::uint32_t{1} << node_bits_) - 1);
  }

  const rendezvous& nodes_;
  slot_table& table_;
  std::uint32_t end_ = 0;  ///< Ranks that each node claims.
  unsigned node_bits_ = 0;
  base::pages<std::uint32_t> claims_;
};

/// For nodes of any weights, where the smallest score wins. Returns the greatest such score, or
/// more.
std::uint64_t build_by_score(const rendezvous& nodes, slot_table& table) {
  // The chance that a segment has no score below t is 2^(-t * weights).
  const auto halvings = static_cast<std::uint64_t>(std::bit_width(nodes.size() / 32));
  const std::uint64_t limit = (halvings << (log_places + 17)) / nodes.weights();
  const base::pages<std::uint64_t> best_score_and_one(table.size());  // 0: nobody's.
  const base::pages<std::uint32_t> best_node(table.size());
  for (std::uint32_t node = 0; halvings > 0 && node < nodes.size(); ++node) {
    const inverse_permutation order{nodes.order(node)};
    const std::uint32_t end = nodes.rank_beyond(node, limit);
    for (std::uint32_t rank = 0; rank < end; ++rank) {
      const std::uint32_t segment = order.segment(rank, nodes.bits());
      const fit claim = nodes.of(node, segment);
      const std::uint64_t held = best_score_and_one[segment];
      if (held == 0 || claim.score + 1 < held ||
          (claim.score + 1 == held && claim < nodes.of(best_node[segment], segment))) {
        best_score_and_one[segment] = claim.score + 1;
        best_node[segment] = node;
      }
    }
  }
  std::uint64_t worst = limit;
  for (std::uint32_t segment = 0; segment < table.size(); ++segment) {
    if (best_score_and_one[segment] - 1 >= limit) {  // Nobody's is the greatest.
      fit best;
      nodes.nearest(segment, {&best, 1});
      best_node[segment] = best.node;
      worst = std::max(worst, best.score);
    }
    table.set(segment, nodes.slot(best_node[segment]));
  }
  return worst;
}

}  // namespace

slot_state build_slots(const rendezvous& nodes, std::size_t slots) {
  slot_state state{slot_table{nodes.bits(), slots}, 0, nodes.weights()};
  if (nodes.size() == 0) return state;
  if (nodes.size() == 1) {  // Nobody need be asked, as when a member starts, on whatever thread.
    state.table.fill(nodes.slot(0));
    state.worst = nodes.greatest_score(0, nodes.segments() - 1);
    return state;
  }
  state.worst = nodes.of_equal_weights()
                    ? nodes.greatest_score(0, rank_build{nodes, state.table}.run())
                    : build_by_score(nodes, state.table);
  return state;
}

}  // namespace lifering::ring_detail
