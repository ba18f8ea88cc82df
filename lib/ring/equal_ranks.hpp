// Who wins a segment where all nodes weigh the same: the node in whose order it comes first. No
// logarithm is needed, and many segments are decided at once. Likewise the other direction: the
// segments that come first in a node's order, many at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ring/score.hpp"

namespace lifering::ring_detail {

/// Segments that are decided together.
inline constexpr std::size_t equal_ranks_batch = 16;

struct segment_batch {
  std::uint32_t segments[equal_ranks_batch];  ///< In.
  std::uint32_t winners[equal_ranks_batch];   ///< The first of the nodes with the smallest rank.
  std::uint32_t ranks[equal_ranks_batch];     ///< That rank.
  std::uint32_t ties[equal_ranks_batch];      ///< Not 0 where another node has that rank too.
};

/// Decides a batch over the orders, fitted to `bits`, of one node or more. About 0.4 ns for each
/// node and segment with AVX2.
void decide_by_rank(std::span<const permutation> orders, unsigned bits,
                    segment_batch& batch) noexcept;

/// The segments of as many ranks of one node, from `rank` on; ranks past the last begin again.
void segments_by_rank(const inverse_permutation& order, std::uint32_t rank, unsigned bits,
                      std::uint32_t (&segments)[equal_ranks_batch]) noexcept;

}  // namespace lifering::ring_detail
