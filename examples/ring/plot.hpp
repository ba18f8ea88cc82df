// The picture of a report.
#pragma once

#include <cstdint>
#include <lifering/ring.hpp>
#include <string>
#include <vector>

namespace ring_tool {

struct summary {
  std::string placement;
  std::uint32_t nodes;
  std::vector<double> shares;  ///< Over the fair one, the greatest first.
  double deviation;
  double theory;
};

/// Writes an SVG: the circle with the busiest node's arcs standing out, and all shares as bars
/// against the fair one. Throws usage_error if the file can't be written.
void plot(const std::string& file, const summary& report, const lifering::ring_table& ring);

}  // namespace ring_tool
