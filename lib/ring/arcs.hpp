// Arcs: the circle as a sequence of stretches of one owner. The common language of the two kinds of
// table, for everything off the lookup path: shares, differences, reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/ring.hpp>
#include <vector>

namespace lifering::ring_detail {

/// The places after the previous arc's `last` (or from 0) up to and including `last`.
struct arc {
  std::uint32_t last;
  const ring_node* owner;
};

/// Sorted, covering the circle; the last one ends at 2^32 - 1. Neighbours may have one owner.
using arc_list = std::vector<arc>;

arc_list arcs_of(const snapshot& state);

/// Where two coverings differ, sorted and merged, by name of the owner.
std::vector<moved_range> compare(const arc_list& before, const arc_list& after);

}  // namespace lifering::ring_detail
