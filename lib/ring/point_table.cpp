// Building, editing and searching the flat ring of points.
#include "ring/point_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/check.hpp"

namespace lifering::ring_detail {

point_table::point_table() {
  allocate(0, 1);
  std::fill_n(index_.get(), 3, 0U);
  finish();
}

point_table::point_table(std::span<const point> points, std::size_t slots) {
  allocate(points.size(), bits_for(points.size(), slots));
  fill(points);
}

std::size_t point_table::bytes() const noexcept {
  return (std::size_t{buckets()} + 1 + size_ + 1 + lanes) * sizeof(std::uint32_t);
}

std::size_t point_table::find_in_large(std::uint32_t first, std::uint32_t count,
                                       std::uint32_t sought) const noexcept {
  const std::uint32_t* entries = entries_.get() + first;
  return static_cast<std::size_t>(std::lower_bound(entries, entries + count, sought) -
                                  entries_.get());
}

point point_table::at(std::size_t index) const noexcept {
  const auto* after = std::upper_bound(index_.get(), index_.get() + buckets() + 1,
                                       static_cast<std::uint32_t>(index));
  const auto bucket = static_cast<std::uint32_t>(after - index_.get() - 1);
  return {place_of(bucket, entries_[index]), owner(index)};
}

point point_table::before(std::uint32_t place) const noexcept {
  const std::size_t next = find(place);
  return at(next == 0 ? size_ - 1 : next - 1);
}

point point_table::at_or_after(std::uint32_t place) const noexcept {
  const std::size_t next = find(place);
  return at(next == size_ ? 0 : next);
}

unsigned point_table::bits_for(std::size_t points, std::size_t slots) noexcept {
  // Between 8/3 and 16/3 points a bucket: fewer would lengthen the index, more wouldn't fit the
  // eight lanes of a comparison.
  const auto by_points = static_cast<unsigned>(std::bit_width(points * 3 / 16 + 1));
  const auto by_slots = static_cast<unsigned>(std::bit_width(slots));
  return std::max(by_points, by_slots);
}

bool point_table::keeps_bits(std::size_t points, std::size_t slots) const noexcept {
  // A margin on both sides, so that a node that comes and goes doesn't cause a build each time.
  const std::size_t room = std::size_t{1} << bits_;
  return slots <= room &&
         (bits_ == bits_for(points, slots) || (points <= room * 6 && points >= room * 2));
}

void point_table::allocate(std::size_t points, unsigned bits) {
  LIFERING_CHECK(points <= points_max && bits >= 1 && bits < 32);
  size_ = points;
  bits_ = bits;
  mask_ = (std::uint32_t{1} << bits) - 1;
  index_ = std::make_unique_for_overwrite<std::uint32_t[]>(std::size_t{buckets()} + 1);
  entries_ = std::make_unique_for_overwrite<std::uint32_t[]>(points + 1 + lanes);
}

void point_table::fill(std::span<const point> points) {
  std::uint32_t next_bucket = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const std::uint32_t bucket = bucket_of(points[i].place); next_bucket <= bucket;) {
      index_[next_bucket++] = static_cast<std::uint32_t>(i);
    }
    entries_[i] = entry_of(points[i]);
  }
  std::fill(index_.get() + next_bucket, index_.get() + buckets() + 1,
            static_cast<std::uint32_t>(points.size()));
  finish();
}

void point_table::finish() noexcept {
  entries_[size_] = size_ == 0 ? 0 : entries_[0];
  std::fill_n(entries_.get() + size_ + 1, lanes, 0U);
}

/// Copies a table up to each edit in turn. Both tables have the same buckets.
class point_table::editor {
 public:
  editor(const point_table& from, point_table& to, const slot_names& names)
      : from_(from), to_(to), names_(names) {}

  void insert(const point& p) {
    const std::uint32_t bucket = from_.bucket_of(p.place);
    const std::uint32_t end = from_.index_[bucket + 1];
    std::size_t where = std::max(from_.find(p.place), read_);
    // Behind the points of equal place whose owners have smaller names.
    while (where < end && is_at(where, p) && names_[from_.owner(where)] <= names_[p.owner]) {
      ++where;
    }
    copy_until(where, bucket);
    to_.entries_[write_++] = to_.entry_of(p);
    ++shift_;
  }

  void erase(const point& p) {
    const std::uint32_t bucket = from_.bucket_of(p.place);
    const std::uint32_t end = from_.index_[bucket + 1];
    std::size_t where = std::max(from_.find(p.place), read_);
    while (where < end && from_.owner(where) != p.owner) {
      ++where;
    }
    LIFERING_CHECK(where < end && is_at(where, p));
    copy_until(where, bucket);
    ++read_;
    --shift_;
  }

  void finish() {
    copy_until(from_.size_, from_.buckets());
    LIFERING_CHECK(write_ == to_.size_);
    to_.finish();
  }

 private:
  bool is_at(std::size_t index, const point& p) const noexcept {
    return from_.entries_[index] >> from_.bits_ == p.place << from_.bits_ >> from_.bits_;
  }

  /// Entries up to `end`, and the index up to and including `bucket`.
  void copy_until(std::size_t end, std::uint32_t bucket) {
    std::memcpy(to_.entries_.get() + write_, from_.entries_.get() + read_,
                (end - read_) * sizeof(std::uint32_t));
    write_ += end - read_;
    read_ = end;
    const std::uint32_t* old_index = from_.index_.get();
    std::uint32_t* new_index = to_.index_.get();
    for (; next_bucket_ <= bucket; ++next_bucket_) {
      new_index[next_bucket_] = old_index[next_bucket_] + shift_;
    }
  }

  const point_table& from_;
  point_table& to_;
  const slot_names& names_;
  std::size_t read_ = 0;
  std::size_t write_ = 0;
  std::uint32_t next_bucket_ = 0;
  std::uint32_t shift_ = 0;  // Modulo 2^32, so that it may be negative.
};

point_table::point_table(const point_table& old, std::span<const point> removed,
                         std::span<const point> added, const slot_names& names, std::size_t slots) {
  const std::size_t points = old.size_ + added.size() - removed.size();
  const bool keeps = old.keeps_bits(points, slots);
  const unsigned bits = keeps ? old.bits_ : bits_for(points, slots);
  const point_table rebuilt = keeps ? point_table{} : old.with_bits(bits);
  allocate(points, bits);
  editor edit{keeps ? old : rebuilt, *this, names};
  const auto precedes = [&names](const point& a, const point& b) {
    return a.place != b.place ? a.place < b.place : names[a.owner] < names[b.owner];
  };
  std::size_t next = 0;
  for (const point& p : added) {
    for (; next < removed.size() && precedes(removed[next], p); ++next) {
      edit.erase(removed[next]);
    }
    edit.insert(p);
  }
  for (; next < removed.size(); ++next) {
    edit.erase(removed[next]);
  }
  edit.finish();
}

point_table point_table::with_bits(unsigned bits) const {
  std::vector<point> points;
  points.reserve(size_);
  for_each([&points](const point& p) { points.push_back(p); });
  point_table result;
  result.allocate(size_, bits);
  result.fill(points);
  return result;
}

}  // namespace lifering::ring_detail
