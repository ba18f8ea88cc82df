// Arcs of a snapshot, and the comparison of two coverings.
#include "ring/arcs.hpp"

#include "ring/snapshot.hpp"

namespace lifering::ring_detail {

arc_list arcs_of(const snapshot& state) {
  constexpr std::uint32_t end = ~std::uint32_t{0};
  arc_list arcs;
  if (state.has_slots()) {
    const slot_table& segments = state.segments();
    const std::uint32_t length = std::uint32_t{1} << (32 - segments.bits());
    arcs.reserve(segments.size());
    for (std::uint32_t segment = 0; segment < segments.size(); ++segment) {
      arcs.push_back({segment * length + (length - 1), state.in_slot(segments.get(segment))});
    }
    return arcs;
  }
  const point_table& points = state.point_ring();
  arcs.reserve(points.size() + 1);
  points.for_each([&](const point& p) {
    if (arcs.empty() || arcs.back().last != p.place) {  // Of equal points the first one counts.
      arcs.push_back({p.place, state.in_slot(p.owner)});
    }
  });
  if (arcs.empty() || arcs.back().last != end) {
    arcs.push_back({end, arcs.empty() ? nullptr : arcs.front().owner});
  }
  return arcs;
}

std::vector<moved_range> compare(const arc_list& before, const arc_list& after) {
  std::vector<moved_range> ranges;
  const auto same = [](const ring_node* a, const ring_node* b) {
    return a == b || (a != nullptr && b != nullptr && a->name == b->name);
  };
  std::uint64_t from = 0;
  for (std::size_t i = 0, j = 0; i < before.size() && j < after.size();) {
    const std::uint32_t last = std::min(before[i].last, after[j].last);
    const ring_node* old_owner = before[i].owner;
    const ring_node* new_owner = after[j].owner;
    if (from <= last && !same(old_owner, new_owner)) {
      if (!ranges.empty() && std::uint64_t{ranges.back().to} + 1 == from &&
          same(ranges.back().old_owner, old_owner) && same(ranges.back().new_owner, new_owner)) {
        ranges.back().to = last;
      } else {
        ranges.push_back({static_cast<std::uint32_t>(from), last, old_owner, new_owner});
      }
    }
    i += before[i].last == last ? 1U : 0U;
    j += after[j].last == last ? 1U : 0U;
    from = std::uint64_t{last} + 1;
  }
  return ranges;
}

}  // namespace lifering::ring_detail
