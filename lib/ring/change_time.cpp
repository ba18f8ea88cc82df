// The times of changes, from what each kind of table looks at.
#include "ring/change_time.hpp"

#include "ring/label.hpp"
#include "ring/slot_table.hpp"

namespace lifering::ring_detail {

std::chrono::nanoseconds estimated_change(const placement_options& placement, std::size_t points,
                                          std::size_t nodes, std::size_t changes) noexcept {
  const auto nanoseconds = [](std::uint64_t count) {
    return std::chrono::nanoseconds{static_cast<std::int64_t>(count)};
  };
  switch (placement.kind) {
    case placement_kind::slots: {
      const std::uint64_t segments = std::uint64_t{1} << placement.segments;
      if (placement.cap != 0) {  // Looks at everything several times.
        return nanoseconds(segments * (16 * nodes + 2 * changes));
      }
      // The new table's pages, fresh from the system, cost as much as a look at each segment.
      return nanoseconds(segments * (1 + (nodes <= few_nodes ? nodes : 2 * changes)));
    }
    case placement_kind::foreign:  // Always built whole, some 64 ns a point.
      return nanoseconds(64 * (points + 200 * changes));
    case placement_kind::classic:
    case placement_kind::mixed:
      break;
  }
  // All points are copied, and those of what changed hashed and sorted.
  const std::uint64_t vnodes = vnodes_of(placement);
  return nanoseconds(2 * vnodes * nodes + 40 * vnodes * changes);
}

}  // namespace lifering::ring_detail
