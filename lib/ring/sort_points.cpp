// Sorting the points of a ring that is built from nothing.
#include <algorithm>
#include <array>

#include "ring/point_table.hpp"

namespace lifering::ring_detail {

// Three passes of eleven bits.
void sort_by_place(std::vector<point>& points) {
  if (points.size() < 2048) {
    std::stable_sort(points.begin(), points.end(),
                     [](const point& a, const point& b) { return a.place < b.place; });
    return;
  }
  constexpr unsigned digit_bits = 11;
  constexpr std::uint32_t digit_mask = (1U << digit_bits) - 1;
  std::vector<point> other(points.size());
  for (unsigned low = 0; low < 32; low += digit_bits) {
    std::array<std::size_t, digit_mask + 2> starts{};
    for (const point& p : points) {
      ++starts[((p.place >> low) & digit_mask) + 1];
    }
    for (std::size_t digit = 1; digit <= digit_mask; ++digit) {
      starts[digit] += starts[digit - 1];
    }
    for (const point& p : points) {
      other[starts[(p.place >> low) & digit_mask]++] = p;
    }
    points.swap(other);
  }
}

}  // namespace lifering::ring_detail
