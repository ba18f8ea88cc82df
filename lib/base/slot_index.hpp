// An index by hash of things that stand in numbered slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lifering::base {

/// Finds the numbers of slots by a 64-bit hash of what stands in them: open addressing, linear, at
/// most half full. It keeps the numbers alone, 8 to 16 bytes each, so it asks back for what is in a
/// slot: `is(slot)` whether it is the one that is looked for, `hash_of(slot)` for its hash.
///
/// Not thread-safe.
class slot_index {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// The slot, or `none`. O(1).
  template <class Is>
  std::uint32_t find(std::uint64_t hash, Is is) const {
    if (places_.empty()) return none;
    std::size_t at = home(hash);
    while (places_[at] != none && !is(places_[at]))
      at = next(at);
    return places_[at];
  }

  /// Adds a slot whose content stands there already and isn't in the index.
  template <class HashOf>
  void insert(std::uint32_t slot, HashOf hash_of) {
    ++size_;
    if (size_ * 2 > places_.size()) grow(hash_of);
    link(hash_of(slot), slot);
  }

  /// Takes a slot out, whose content stands there still. Without tombstones (Knuth, volume 3,
  /// algorithm 6.4R): the gap is closed with the next entry of the run that may stand there.
  template <class HashOf>
  void erase(std::uint32_t slot, HashOf hash_of) {
    std::size_t gap = home(hash_of(slot));
    while (places_[gap] != slot)
      gap = next(gap);
    const std::size_t mask = places_.size() - 1;
    for (std::size_t at = next(gap); places_[at] != none; at = next(at)) {
      if (((at - home(hash_of(places_[at]))) & mask) < ((at - gap) & mask)) continue;
      places_[gap] = places_[at];
      gap = at;
    }
    places_[gap] = none;
    --size_;
  }

 private:
  std::size_t home(std::uint64_t hash) const noexcept { return hash & (places_.size() - 1); }
  std::size_t next(std::size_t at) const noexcept { return (at + 1) & (places_.size() - 1); }

  void link(std::uint64_t hash, std::uint32_t slot) {
    std::size_t at = home(hash);
    while (places_[at] != none)
      at = next(at);
    places_[at] = slot;
  }

  template <class HashOf>
  void grow(HashOf hash_of) {
    const std::vector<std::uint32_t> before = std::move(places_);
    places_ = std::vector<std::uint32_t>(before.empty() ? 16 : before.size() * 2, none);
    for (const std::uint32_t slot : before) {
      if (slot != none) link(hash_of(slot), slot);
    }
  }

  std::vector<std::uint32_t> places_;  // A power of two of them.
  std::size_t size_ = 0;
};

}  // namespace lifering::base
