// The table of `slots`: the owner of each segment, with the ways to make it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/pages.hpp"
#include "ring/rendezvous.hpp"

namespace lifering::ring_detail {

/// Owners by segment, as slots of a snapshot; slot 0 is nobody. Two bytes a segment while that is
/// enough for every slot, else four.
class slot_table {
 public:
  slot_table() = default;

  /// All segments nobody's, with room for so many slots.
  slot_table(unsigned bits, std::size_t slots);

  /// A copy with room for so many slots.
  slot_table(const slot_table& other, std::size_t slots);

  slot_table(slot_table&&) = default;
  slot_table& operator=(slot_table&&) = default;

  std::size_t size() const noexcept { return std::size_t{1} << bits_; }
  unsigned bits() const noexcept { return bits_; }
  std::size_t bytes() const noexcept { return size() * (is_narrow() ? 2 : 4); }

  std::uint32_t slot_at(std::uint32_t place) const noexcept { return get(place >> (32 - bits_)); }
  std::uint32_t get(std::uint32_t segment) const noexcept {
    return is_narrow() ? narrow_[segment] : wide_[segment];
  }
  /// The segments of some slots, ascending.
  std::vector<std::uint32_t> segments_of(const std::vector<std::uint32_t>& slots) const;

  /// Segments in which two tables of one size differ.
  std::size_t differences(const slot_table& other) const noexcept;

  void set(std::uint32_t segment, std::uint32_t slot) noexcept {
    if (is_narrow()) {
      narrow_[segment] = static_cast<std::uint16_t>(slot);
    } else {
      wide_[segment] = slot;
    }
  }

  /// All segments to one slot.
  void fill(std::uint32_t slot) noexcept;

 private:
  bool is_narrow() const noexcept { return narrow_.data() != nullptr; }

  unsigned bits_ = 0;
  base::pages<std::uint16_t> narrow_;
  base::pages<std::uint32_t> wide_;
};

/// A table and what its next change needs to know of it.
struct slot_state {
  slot_table table;

  /// No owner's score for its segment is above this. Kept up lazily: a join lowers scores, and the
  /// bound only when the weights have grown a quarter since it was last exact.
  std::uint64_t worst = 0;
  std::uint64_t worst_weights = 0;  ///< Of all nodes, when `worst` was exact.
};

/// The table of a set of nodes from nothing.
slot_state build_slots(const rendezvous& nodes, std::size_t slots);

/// What differs, as indices of owning nodes in the new set, and as slots of the old one.
struct slot_changes {
  std::vector<std::uint32_t> gaining;  ///< Nodes that are new or weigh more.
  std::vector<std::uint32_t> losing;   ///< Slots of nodes that are gone or weigh less.
};

/// So few nodes of equal weight are sooner asked for every segment than looked at one by one when
/// one joins, which would have to look at most segments anyway.
inline constexpr std::size_t few_nodes = 16;

/// The same from the table of another set, touching only the segments that change owner: those that
/// the losing slots hold, and those that the gaining nodes win.
slot_state edit_slots(const slot_state& old, const slot_changes& changes, const rendezvous& nodes,
                      std::size_t slots);

/// The segments that each node may own under a cap, by index of owning node.
std::vector<std::uint32_t> capped_quotas(const rendezvous& nodes, std::uint32_t cap);

/// The table in which no node exceeds its quota: fair share and `cap` thousandths of it.
slot_state build_capped_slots(const rendezvous& nodes, std::size_t slots, std::uint32_t cap);

}  // namespace lifering::ring_detail
