// Preference order: which nodes come next for a key, first its owner.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <lifering/ring.hpp>
#include <optional>
#include <span>
#include <vector>

#include "ring/snapshot.hpp"

namespace lifering::ring_detail {

/// A list that allocates from its seventeenth element on.
template <class T>
class short_list {
 public:
  void push_back(T value) {
    if (size_ < near_.size()) {
      near_[size_] = value;
    } else {
      far_.push_back(value);
    }
    ++size_;
  }
  std::size_t size() const noexcept { return size_; }
  T operator[](std::size_t i) const noexcept {
    return i < near_.size() ? near_[i] : far_[i - near_.size()];
  }

 private:
  std::array<T, 16> near_{};
  std::size_t size_ = 0;
  std::vector<T> far_;
};

/// All nodes that own something, each once, beginning with the owner of a place, without regard to
/// zones: in clockwise order, or in the order of fit for the place's segment.
class preference {
 public:
  /// `likely`: how many will probably be asked for.
  preference(const snapshot& state, std::uint32_t place, std::size_t likely) noexcept
      : state_(state),
        index_(state.has_slots() ? place >> (32 - state.segments().bits())
                                 : state.point_ring().find(place)),
        likely_(std::min<std::size_t>(likely, 15) + 1) {}

  /// Null when all have been given.
  const ring_node* next();

 private:
  const ring_node* next_point();
  const ring_node* next_fit();
  bool is_new(std::uint32_t slot);

  const snapshot& state_;
  std::size_t index_;  ///< Of the next point, or of the segment.
  std::size_t found_ = 0;

  // Of points.
  std::array<std::uint32_t, 16> first_slots_{};
  std::vector<bool> seen_;  ///< By slot, once there are more than sixteen.

  // Of segments.
  std::size_t likely_;
  std::array<fit, 16> first_fits_;
  std::size_t fits_ = 0;
  std::size_t next_fit_ = 0;
  std::vector<fit> all_fits_;  ///< All nodes in order, once sixteen weren't enough.
};

/// The same with regard to zones and without the nodes that a filter skips: first those that bring
/// a new zone, then those passed over for that, then the rest.
class zoned_preference {
 public:
  zoned_preference(const snapshot& state, std::uint32_t place, std::size_t likely,
                   const node_filter* skip = nullptr) noexcept
      : order_(state, place, state.zones() <= 1 ? likely : 15),
        skip_(skip),
        new_zones_(state.zones() <= 1 ? 0 : state.zones()) {}

  /// Null when all have been given.
  const ring_node* next();

 private:
  const ring_node* next_unskipped();
  bool is_used(const std::string& zone) const;

  preference order_;
  const node_filter* skip_;
  std::size_t new_zones_;                ///< Not yet used, though perhaps skipped whole.
  short_list<const ring_node*> chosen_;  ///< The first of each zone.
  short_list<const ring_node*> passed_over_;
  std::size_t next_passed_over_ = 0;
};

}  // namespace lifering::ring_detail
