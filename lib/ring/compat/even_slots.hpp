// A table of slots as stretches of the circle of 2^32: slot by slot, as even as whole places allow.
#pragma once

#include <cstdint>
#include <vector>

#include "ring/point_table.hpp"

namespace lifering::compat {

class even_slots {
 public:
  explicit constexpr even_slots(std::uint32_t count) noexcept
      : count_(count), step_(count < 2 ? 0 : (~std::uint64_t{0} - (count - 1)) / count + 1) {}

  std::uint32_t count() const noexcept { return count_; }

  /// The first place of a slot below count(): slot / count of the circle, by a multiplication.
  constexpr std::uint32_t place(std::uint32_t slot) const noexcept {
    return static_cast<std::uint32_t>((slot * step_) >> 32);
  }

  /// Appends a point at the end of each stretch of slots of one owner, which `owner(slot)` tells.
  template <class Owner>
  void append(std::vector<ring_detail::point>& points, Owner owner) const {
    for (std::uint32_t slot = 0; slot < count_; ++slot) {
      const std::uint32_t own = owner(slot);
      if (slot + 1 == count_) {
        points.push_back({~std::uint32_t{0}, own});
      } else if (own != owner(slot + 1)) {
        points.push_back({place(slot + 1) - 1, own});
      }
    }
  }

 private:
  std::uint32_t count_;
  std::uint64_t step_;  ///< 2^64 / count, rounded down.
};

}  // namespace lifering::compat
