// The set of nodes that a ring is a function of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/ring.hpp>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "ring/score.hpp"

namespace lifering::ring_detail {

inline constexpr std::size_t name_bytes_max = 255;
inline constexpr std::size_t zone_bytes_max = 64;

/// A node as states share it: immutable, so that a state with one more node copies pointers only.
struct node_record {
  explicit node_record(ring_node given);

  ring_node node;
  permutation order;     ///< Of the segments, by name, not yet fitted: see score.hpp.
  std::uint64_t digest;  ///< A hash of all of it: what it adds to the fingerprint.
};

using record_pointer = std::shared_ptr<const node_record>;

/// Sorted by name, each name once.
using node_set = std::vector<record_pointer>;

/// Whether a node may be in a ring: nothing, or empty_name, name_too_long, zone_too_long.
std::error_code check_node(const ring_node& node) noexcept;

/// The position of a name, or where it would be.
struct position {
  std::size_t index;
  bool found;
};
position find_node(const node_set& nodes, std::string_view name) noexcept;

/// The set {nodes}, with the records of `current` wherever they are equal. Reports duplicate_node
/// and what check_node() finds.
node_set make_set(std::vector<ring_node> nodes, const node_set& current, std::error_code& error);

}  // namespace lifering::ring_detail
