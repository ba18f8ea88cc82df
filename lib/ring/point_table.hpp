// The ring of points (`classic` and `mixed`) as two flat arrays.
//
// The circle is cut into 2^bits buckets by the top bits of a place. A point is one 32-bit entry:
// the low bits of its place above, the number of its owner below; the bucket says the rest. So an
// entry holds `32 - bits` bits of place and `bits` bits of owner, which suffices, as there are no
// more owners than points and `bits` grows with the points. A lookup reads two words of the index
// and compares the bucket's few entries at once.
//
// 1000 nodes of 150 points: 600 KB of entries and 128 KB of index.
//
// Invariants: entries are sorted by place, those of equal place by name of owner (in another
// system's ring, as that orders them; such a table isn't edited); index[b] counts the entries
// before bucket b; behind the last entry stands a copy of the first, for the wrap, and padding that
// may be read but never counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ring/count_below.hpp"

namespace lifering::ring_detail {

/// A point apart from its table. `owner` is a slot: see ring_state.
struct point {
  std::uint32_t place;
  std::uint32_t owner;

  friend bool operator==(const point&, const point&) = default;
};

/// Sorts by place, keeping the order of points of equal place.
void sort_by_place(std::vector<point>& points);

/// The most points that a ring may have, 256 MB of them.
inline constexpr std::uint64_t points_max = std::uint64_t{1} << 26;

/// The name of the owner in a slot, to order points of equal place.
using slot_names = std::vector<std::string_view>;

class point_table {
 public:
  /// No points. `slot_at` gives slot 0, which must then stand for nobody.
  point_table();

  /// From points sorted by place and name; owners are below `slots`.
  point_table(std::span<const point> points, std::size_t slots);

  /// `old` without `removed` and with `added`, both sorted by place and name. `names` knows every
  /// owner, old or new. A copy with insertions; a build where the buckets no longer fit.
  point_table(const point_table& old, std::span<const point> removed, std::span<const point> added,
              const slot_names& names, std::size_t slots);

  point_table(point_table&&) = default;
  point_table& operator=(point_table&&) = default;

  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept;

  /// The slot of the first point at or after a place, going round.
  std::uint32_t slot_at(std::uint32_t place) const noexcept {
    return entries_[find(place)] & mask_;
  }

  /// The index of the first point at or after a place; size() if there is none before the wrap.
  std::size_t find(std::uint32_t place) const noexcept {
    const std::uint32_t bucket = bucket_of(place);
    const std::uint32_t first = index_[bucket];
    const std::uint32_t count = index_[bucket + 1] - first;
    const std::uint32_t sought = place << bits_;
    if (count <= lanes) [[likely]] {
      return first + count_below(entries_.get() + first, count, sought);
    }
    return find_in_large(first, count, sought);
  }

  /// Point by index, below size(). The place costs a binary search in the index.
  std::uint32_t owner(std::size_t index) const noexcept { return entries_[index] & mask_; }

  /// Calls visit(point) for each in order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t bucket = 0; bucket < buckets(); ++bucket) {
      for (std::uint32_t i = index_[bucket]; i < index_[bucket + 1]; ++i) {
        visit(point{place_of(bucket, entries_[i]), entries_[i] & mask_});
      }
    }
  }

  /// The last point before a place, going round. The table isn't empty.
  point before(std::uint32_t place) const noexcept;

  /// The first point at or after a place, going round. The table isn't empty.
  point at_or_after(std::uint32_t place) const noexcept;

 private:
  static constexpr std::size_t lanes = 8;

  std::uint32_t buckets() const noexcept { return std::uint32_t{1} << bits_; }
  std::uint32_t bucket_of(std::uint32_t place) const noexcept { return place >> (32 - bits_); }
  std::uint32_t place_of(std::uint32_t bucket, std::uint32_t entry) const noexcept {
    return (bucket << (32 - bits_)) | (entry >> bits_);
  }
  std::uint32_t entry_of(const point& p) const noexcept { return (p.place << bits_) | p.owner; }
  point at(std::size_t index) const noexcept;
  std::size_t find_in_large(std::uint32_t first, std::uint32_t count,
                            std::uint32_t sought) const noexcept;

  static unsigned bits_for(std::size_t points, std::size_t slots) noexcept;
  bool keeps_bits(std::size_t points, std::size_t slots) const noexcept;
  class editor;

  point_table with_bits(unsigned bits) const;
  void allocate(std::size_t points, unsigned bits);
  void fill(std::span<const point> points);
  void finish() noexcept;

  std::unique_ptr<std::uint32_t[]> index_;
  std::unique_ptr<std::uint32_t[]> entries_;
  std::uint32_t mask_ = 0;  ///< The bits of an entry that are its owner.
  unsigned bits_ = 0;
  std::size_t size_ = 0;
};

}  // namespace lifering::ring_detail
