// An index by hash of things that stand in numbered slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace lifering::base {

/// Finds the numbers of slots by a 64-bit hash of what stands in them: open addressing, linear, at
/// most seven eighths full. It keeps the numbers with 8 bits of the hash each, 5 to 9 bytes a slot,
/// so it asks back for what is in a slot: `is(slot)` whether it is the one that is looked for,
/// `hash_of(slot)` for its hash. Of others that it passes, `is` is asked about one in 256.
///
/// Not thread-safe.
class slot_index {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// Slots have lower numbers.
  static constexpr std::uint32_t slots_max = (std::uint32_t{1} << 24) - 1;

  /// The slot, or `none`. O(1).
  template <class Is>
  std::uint32_t find(std::uint64_t hash, Is is) const {
    if (places_.empty()) return none;
    const std::uint32_t tag = tag_of(hash);
    for (std::size_t at = home(hash); places_[at] != none; at = next(at)) {
      const std::uint32_t slot = places_[at] & slot_mask;
      if ((places_[at] & ~slot_mask) == tag && is(slot)) return slot;
    }
    return none;
  }

  /// Adds a slot whose content stands there already and isn't in the index.
  template <class HashOf>
  void insert(std::uint32_t slot, HashOf hash_of) {
    LIFERING_CHECK(slot < slots_max);
    ++size_;
    if (size_ * 8 > places_.size() * 7) grow(hash_of);
    link(hash_of(slot), slot);
  }

  /// Takes a slot out, whose content stands there still. Without tombstones (Knuth, volume 3,
  /// algorithm 6.4R): the gap is closed with the next entry of the run that may stand there.
  template <class HashOf>
  void erase(std::uint32_t slot, HashOf hash_of) {
    std::size_t gap = home(hash_of(slot));
    while ((places_[gap] & slot_mask) != slot)
      gap = next(gap);
    const std::size_t mask = places_.size() - 1;
    for (std::size_t at = next(gap); places_[at] != none; at = next(at)) {
      const std::size_t wanted = home(hash_of(places_[at] & slot_mask));
      if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
      places_[gap] = places_[at];
      gap = at;
    }
    places_[gap] = none;
    --size_;
  }

 private:
  static constexpr std::uint32_t slot_mask = slots_max;

  std::size_t home(std::uint64_t hash) const noexcept { return hash & (places_.size() - 1); }
  std::size_t next(std::size_t at) const noexcept { return (at + 1) & (places_.size() - 1); }

  /// The high bits, which say nothing about its home.
  static std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 32U) & ~slot_mask;
  }

  void link(std::uint64_t hash, std::uint32_t slot) {
    std::size_t at = home(hash);
    while (places_[at] != none)
      at = next(at);
    places_[at] = tag_of(hash) | slot;
  }

  template <class HashOf>
  void grow(HashOf hash_of) {
    const std::vector<std::uint32_t> before = std::move(places_);
    places_ = std::vector<std::uint32_t>(before.empty() ? 16 : before.size() * 2, none);
    for (const std::uint32_t place : before) {
      if (place != none) link(hash_of(place & slot_mask), place & slot_mask);
    }
  }

  std::vector<std::uint32_t> places_;  // A power of two of them: a slot's number below its tag.
  std::size_t size_ = 0;
};

}  // namespace lifering::base
