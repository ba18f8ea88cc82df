// A circle of 2^64 on that of 2^32, exactly: for systems whose hashes have 64 bits.
//
// A point's place is the upper half of its hash, or the next one that is free where others have it
// already; so places keep the order of points, and no two meet. A key's place is the upper half of
// its hash too, moved only where that would put it on the wrong side of a point: of 1024 points it
// is one key in four million.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ring/point_table.hpp"

namespace lifering::compat {

/// A point of the wide circle, with the owner of a ring_detail::point.
struct wide_point {
  std::uint64_t hash;
  std::uint32_t owner;
};

class wide_circle {
 public:
  /// In any order; of points of equal hash the first counts. Appends to `points` in order.
  wide_circle(std::vector<wide_point> wide, std::vector<ring_detail::point>& points);

  /// Before, at or after the points' places as the hash is to theirs.
  std::uint32_t place(std::uint64_t hash) const noexcept;

  std::size_t bytes() const noexcept;

 private:
  std::vector<std::uint64_t> hashes_;   ///< Of the points, sorted.
  std::vector<std::uint32_t> places_;   ///< Theirs.
  std::vector<std::uint32_t> buckets_;  ///< Where hashes begin, by their top bits.
  unsigned shift_ = 63;
};

}  // namespace lifering::compat
