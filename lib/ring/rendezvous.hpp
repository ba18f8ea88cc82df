// Rendezvous: which nodes fit a segment best, over all nodes of a set.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ring/equal_ranks.hpp"
#include "ring/node_set.hpp"
#include "ring/score.hpp"

namespace lifering::ring_detail {

/// How well a node fits a segment. Smaller is better; no two nodes are equal for a segment.
struct fit {
  std::uint64_t score;
  std::uint64_t draw;
  std::uint32_t node;  ///< Index among the owning nodes, which is the order of names.

  friend auto operator<=>(const fit&, const fit&) = default;
};

/// The nodes of positive weight, laid out for scoring many at once. Immutable.
class rendezvous {
 public:
  rendezvous() = default;
  rendezvous(const node_set& nodes, std::span<const std::uint32_t> slots, unsigned bits);

  std::size_t size() const noexcept { return nodes_.size(); }
  unsigned bits() const noexcept { return bits_; }
  std::uint32_t segments() const noexcept { return std::uint32_t{1} << bits_; }
  std::uint64_t weights() const noexcept { return weights_; }

  std::uint32_t slot(std::uint32_t node) const noexcept { return nodes_[node].slot; }
  std::uint32_t weight(std::uint32_t node) const noexcept { return nodes_[node].thousandths; }
  const permutation& order(std::uint32_t node) const noexcept { return orders_[node]; }
  bool of_equal_weights() const noexcept { return equal_weights_; }

  /// How well a node fits a segment.
  fit of(std::uint32_t node, std::uint32_t segment) const noexcept {
    const scored_node& n = nodes_[node];
    const std::uint64_t draw = draw_of(orders_[node], segment, bits_);
    return {score_of(draw, bits_, n.reciprocal), draw, node};
  }

  /// Whether one node fits a segment better than another: `of(a) < of(b)`, without logarithms where
  /// weights are equal, as scores don't fall where draws rise.
  bool prefers(std::uint32_t segment, std::uint32_t a, std::uint32_t b) const noexcept {
    const scored_node& first = nodes_[a];
    const scored_node& second = nodes_[b];
    if (first.thousandths != second.thousandths) {
      return of(a, segment) < of(b, segment);
    }
    const std::uint32_t first_rank = orders_[a].rank(segment, bits_);
    const std::uint32_t second_rank = orders_[b].rank(segment, bits_);
    return first_rank != second_rank ? first_rank < second_rank : of(a, segment) < of(b, segment);
  }

  /// The best possible score of a node's rank: that of its smallest fraction.
  std::uint64_t least_score(std::uint32_t node, std::uint32_t rank) const noexcept {
    return score_of(std::uint64_t{rank} << fraction_bits, bits_, nodes_[node].reciprocal);
  }

  /// The worst possible score of a node's rank: that of its largest fraction.
  std::uint64_t greatest_score(std::uint32_t node, std::uint32_t rank) const noexcept {
    const std::uint64_t draw = ((std::uint64_t{rank} + 1) << fraction_bits) - 1;
    return score_of(draw, bits_, nodes_[node].reciprocal);
  }

  /// The first rank of a node whose scores are all above a limit; segments() if none is.
  std::uint32_t rank_beyond(std::uint32_t node, std::uint64_t limit) const noexcept;

  /// Puts the best fits for a segment into `best`, in order, and returns how many: the smaller of
  /// best.size() and size(). Looks at every node: about 0.4 ns each with AVX2.
  std::size_t nearest(std::uint32_t segment, std::span<fit> best) const noexcept;

  /// Says of each of these segments `each(segment, winning node, its rank)`. For nodes of equal
  /// weights, of which there is one; about 0.4 ns for each node and segment with AVX2.
  template <class Each>
  void decide(std::span<const std::uint32_t> segments, Each each) const {
    segment_batch batch{};
    for (std::size_t first = 0; first < segments.size(); first += equal_ranks_batch) {
      const std::size_t count = std::min(equal_ranks_batch, segments.size() - first);
      std::copy_n(segments.begin() + static_cast<std::ptrdiff_t>(first), count, batch.segments);
      decide_by_rank(orders_, bits_, batch);
      for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t winner = batch.winners[i];
        if (batch.ties[i] != 0) {  // The fractions of the ranks decide.
          fit best;
          nearest(batch.segments[i], {&best, 1});
          winner = best.node;
        }
        each(batch.segments[i], winner, batch.ranks[i]);
      }
    }
  }

  std::size_t bytes() const noexcept;

 private:
  struct scored_node {
    std::uint64_t reciprocal;
    std::uint32_t slot;
    std::uint32_t thousandths;
  };

  // Eight nodes' permutations side by side, as one instruction takes them.
  static constexpr std::size_t lanes = 8;
  struct alignas(32) lane_group {
    std::uint32_t flips[lanes];
    std::uint32_t first[lanes];
    std::uint32_t second[lanes];
    std::uint32_t third[lanes];
    std::uint32_t offset[lanes];
    std::uint32_t lightness[lanes];  ///< lightest / weight, of 2^(32 - bits), rounded down.
  };

  /// What a node's bound must not exceed for its score to be as good as this.
  std::uint32_t bound_of(std::uint64_t score) const noexcept;

  friend struct rendezvous_kernels;

  unsigned bits_ = 0;
  std::uint32_t lightest_ = 0;
  std::uint64_t weights_ = 0;
  bool equal_weights_ = false;  ///< Of one node or more.
  std::vector<permutation> orders_;
  std::vector<scored_node> nodes_;
  std::vector<lane_group> groups_;
};

}  // namespace lifering::ring_detail
