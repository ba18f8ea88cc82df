// How long a change of a ring will take, before it is made: for whoever must decide which thread
// makes it.
#pragma once

#include <chrono>
#include <cstddef>
#include <lifering/placement.hpp>

namespace lifering::ring_detail {

/// Roughly, within a factor of a few either way, on a processor of some 3 GHz: `changes` nodes
/// come, go or change, and then there are `nodes`. `points` is what the ring has before.
std::chrono::nanoseconds estimated_change(const placement_options& placement, std::size_t points,
                                          std::size_t nodes, std::size_t changes) noexcept;

}  // namespace lifering::ring_detail
