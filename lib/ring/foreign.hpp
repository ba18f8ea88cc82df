// What a ring asks of another system's placement. lib/ring/compat answers it, a file for each
// system; everything else (snapshots, views, preference, differences) is the ring's own.
//
// A rule turns a set of nodes into points of the circle of 2^32 and says the place of a key. A key
// belongs to the first point at or after its place. Systems that think otherwise are brought into
// this form: a table of slots becomes a point at the end of each stretch of slots of one owner, the
// nearest of two points a point halfway between them, and a circle of 2^64 one of 2^32 on which no
// two points meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/ring.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ring/point_table.hpp"

namespace lifering::ring_detail {

/// Sorted by name, each name once.
using node_span = std::span<const ring_node* const>;

/// The other system's view of one set of nodes. Immutable; pure; any thread.
class foreign_table {
 public:
  foreign_table() = default;
  foreign_table(const foreign_table&) = delete;
  foreign_table& operator=(const foreign_table&) = delete;
  virtual ~foreign_table() = default;

  /// The place of a key, the empty one too.
  virtual std::uint32_t place(std::string_view key) const noexcept = 0;

  /// Whether limit() is this system's own rule of bounded loads.
  virtual bool has_limits() const noexcept { return false; }

  /// A node may take another request while it has fewer than this, of `total` that all nodes have.
  virtual std::uint64_t limit(const ring_node& /*node*/, std::uint64_t /*total*/,
                              std::uint32_t /*factor*/) const noexcept {
    return 0;
  }

  /// What it occupies beside the points.
  virtual std::size_t bytes() const noexcept { return sizeof(*this); }
};

/// A system with its parameters. Immutable.
class foreign_rule {
 public:
  foreign_rule() = default;
  foreign_rule(const foreign_rule&) = delete;
  foreign_rule& operator=(const foreign_rule&) = delete;
  virtual ~foreign_rule() = default;

  /// All that decides owners, written in one way only.
  virtual std::string_view text() const noexcept = 0;

  /// What is wrong with the parameters.
  virtual std::optional<problem> validate() const = 0;

  /// What these nodes have that the system can't have.
  virtual std::optional<problem> refuse(node_span nodes) const = 0;

  /// Traps that these nodes are in, a sentence each.
  virtual void warn(node_span nodes, std::vector<std::string>& found) const = 0;

  /// At least as many as build() makes.
  virtual std::uint64_t count_points(node_span nodes) const = 0;

  /// Appends the points in order of place, those of equal place in the order in which they count:
  /// the first owns. An owner is its index in `nodes` and one, or 0 for a stretch of nobody's.
  virtual std::unique_ptr<const foreign_table> build(node_span nodes,
                                                     std::vector<point>& points) const = 0;

  /// A key's slot or partition, where the system has such.
  virtual std::optional<std::uint32_t> slot(std::string_view key) const = 0;
};

}  // namespace lifering::ring_detail
