// Narrowing 64-bit points to places that keep their order.
#include "ring/compat/wide_circle.hpp"

#include <algorithm>
#include <bit>

namespace lifering::compat {

wide_circle::wide_circle(std::vector<wide_point> wide, std::vector<ring_detail::point>& points) {
  std::stable_sort(wide.begin(), wide.end(),
                   [](const wide_point& a, const wide_point& b) { return a.hash < b.hash; });
  wide.erase(std::unique(wide.begin(), wide.end(),
                         [](const wide_point& a, const wide_point& b) { return a.hash == b.hash; }),
             wide.end());
  std::vector<std::uint64_t> places;
  for (const wide_point& each : wide) {
    const std::uint64_t free = places.empty() ? 0 : places.back() + 1;
    places.push_back(std::max(each.hash >> 32, free));
    hashes_.push_back(each.hash);
  }
  // Those that are past the end now go back before it, and push others back where they must.
  std::uint64_t end = std::uint64_t{1} << 32;
  for (std::size_t i = places.size(); i-- > 0 && places[i] >= end; end = places[i]) {
    places[i] = end - 1;
  }
  for (std::size_t i = 0; i < wide.size(); ++i) {
    places_.push_back(static_cast<std::uint32_t>(places[i]));
    points.push_back({places_[i], wide[i].owner});
  }
  // One bucket for each point, more or less.
  const auto bits = std::max(1U, static_cast<unsigned>(std::bit_width(hashes_.size())));
  shift_ = 64 - bits;
  buckets_.assign((std::size_t{1} << bits) + 1, 0);
  for (const std::uint64_t hash : hashes_) {
    ++buckets_[(hash >> shift_) + 1];
  }
  for (std::size_t bucket = 1; bucket < buckets_.size(); ++bucket) {
    buckets_[bucket] += buckets_[bucket - 1];
  }
}

std::uint32_t wide_circle::place(std::uint64_t hash) const noexcept {
  std::size_t next = buckets_[hash >> shift_];
  while (next < hashes_.size() && hashes_[next] < hash) {
    ++next;
  }
  const std::uint64_t upper = hash >> 32;
  const std::uint64_t first = next == 0 ? 0 : std::uint64_t{places_[next - 1]} + 1;
  const std::uint64_t last = next == hashes_.size() ? ~std::uint32_t{0} : places_[next];
  // After the last point, and no place left there: before the first, which comes next.
  return first > last ? 0 : static_cast<std::uint32_t>(std::clamp(upper, first, last));
}

std::size_t wide_circle::bytes() const noexcept {
  return hashes_.capacity() * sizeof(hashes_[0]) + places_.capacity() * sizeof(places_[0]) +
         buckets_.capacity() * sizeof(buckets_[0]);
}

}  // namespace lifering::compat
