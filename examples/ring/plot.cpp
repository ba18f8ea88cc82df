// Drawing the circle and the shares as SVG.
#include "plot.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <map>
#include <numbers>

#include "arguments.hpp"
#include "text.hpp"

namespace ring_tool {

namespace {

constexpr int sectors = 1440;
constexpr double width = 1000;
constexpr double height = 520;

struct spot {
  double x;
  double y;
};

spot on_circle(double turn, double radius) {
  const double angle = 2 * std::numbers::pi * turn - std::numbers::pi / 2;
  return {260 + radius * std::cos(angle), 270 + radius * std::sin(angle)};
}

void sector(std::ostream& out, double from, double to, double inner, double outer,
            const std::string& fill) {
  const spot a = on_circle(from, inner);
  const spot b = on_circle(from, outer);
  const spot c = on_circle(to, outer);
  const spot d = on_circle(to, inner);
  const int large = to - from > 0.5 ? 1 : 0;
  out << "<path fill='" << fill << "' d='M" << a.x << ' ' << a.y << 'L' << b.x << ' ' << b.y << 'A'
      << outer << ' ' << outer << " 0 " << large << " 1 " << c.x << ' ' << c.y << 'L' << d.x << ' '
      << d.y << 'A' << inner << ' ' << inner << " 0 " << large << " 0 " << a.x << ' ' << a.y
      << "Z'/>\n";
}

const lifering::ring_node* busiest(const lifering::ring_table& ring) {
  const lifering::ring_node* best = nullptr;
  std::uint64_t most = 0;
  // Shares by a walk over places would be inexact; shares by name are slow for many nodes. The
  // picture needs no more than the one that most sectors of a fine division belong to.
  std::map<const lifering::ring_node*, std::uint64_t> counts;
  for (std::uint64_t place = 0; place < (std::uint64_t{1} << 32); place += 1U << 12) {
    const auto* owner = ring.owner_at(static_cast<std::uint32_t>(place));
    if (owner != nullptr && ++counts[owner] > most) {
      most = counts[owner];
      best = owner;
    }
  }
  return best;
}

void draw_ring(std::ostream& out, const lifering::ring_table& ring) {
  const auto* top = busiest(ring);
  const auto owner_of = [&ring](int i) {
    const double place = (i + 0.5) / sectors * 4294967296.0;
    return ring.owner_at(static_cast<std::uint32_t>(place));
  };
  std::map<std::string, std::size_t> number;
  for (const auto* node : ring.nodes()) {
    number.emplace(node->name, number.size());
  }
  for (int i = 0; i < sectors;) {
    const auto* owner = owner_of(i);
    int end = i + 1;
    while (end < sectors && owner_of(end) == owner) {
      ++end;
    }
    const double from = static_cast<double>(i) / sectors;
    const double to = std::min(static_cast<double>(end) / sectors, from + 0.9999);
    // Hues a golden section apart: neighbours in the list of nodes differ clearly.
    const double hue = std::fmod(static_cast<double>(number[owner->name]) * 222.49, 360.0);
    sector(out, from, to, 130, 190, "hsl(" + std::to_string(hue) + ",45%,68%)");
    if (owner == top) {
      sector(out, from, to, 196, 216, "#c0392b");
    }
    i = end;
  }
  out << "<text x='260' y='262' text-anchor='middle' font-size='15'>" << ring.nodes().size()
      << " nodes</text>\n"
      << "<text x='260' y='284' text-anchor='middle' font-size='13' fill='#c0392b'>"
         "red: the busiest one</text>\n";
}

void draw_shares(std::ostream& out, const summary& report) {
  constexpr double left = 560;
  constexpr double right = 960;
  constexpr double bottom = 440;
  constexpr double top = 100;
  const double highest = std::max(1.25, report.shares.front() * 1.05);
  const auto y = [&](double share) { return bottom - (bottom - top) * share / highest; };
  const double step = (right - left) / static_cast<double>(report.shares.size());
  for (std::size_t i = 0; i < report.shares.size(); ++i) {
    const double share = report.shares[i];
    out << "<rect x='" << left + step * static_cast<double>(i) << "' y='" << y(share) << "' width='"
        << std::max(step * 0.85, 0.4) << "' height='" << bottom - y(share) << "' fill='"
        << (i == 0      ? "#c0392b"
            : share > 1 ? "#7f8fa6"
                        : "#b6c0cf")
        << "'/>\n";
  }
  out << "<line x1='" << left - 8 << "' x2='" << right << "' y1='" << y(1) << "' y2='" << y(1)
      << "' stroke='#222' stroke-dasharray='4 3'/>\n"
      << "<text x='" << left - 12 << "' y='" << y(1) + 4
      << "' text-anchor='end' font-size='13'>fair</text>\n"
      << "<line x1='" << left << "' x2='" << right << "' y1='" << bottom << "' y2='" << bottom
      << "' stroke='#222'/>\n"
      << "<text x='" << left << "' y='" << y(report.shares.front()) - 8
      << "' font-size='14' fill='#c0392b'>busiest " << report.shares.front() << "</text>\n"
      << "<text x='" << right << "' y='" << y(report.shares.back()) - 8
      << "' text-anchor='end' font-size='14' stroke='white' stroke-width='4' "
         "paint-order='stroke'>idlest "
      << report.shares.back() << "</text>\n"
      << "<text x='" << left << "' y='" << bottom + 30
      << "' font-size='13'>shares of all nodes, sorted; standard deviation " << report.deviation
      << ",</text>\n<text x='" << left << "' y='" << bottom + 48
      << "' font-size='13'>where random placement of that size gives " << report.theory
      << "</text>\n";
}

}  // namespace

void plot(const std::string& file, const summary& report, const lifering::ring_table& ring) {
  std::ofstream out{file};
  out << std::fixed << std::setprecision(3);
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << width << ' ' << height
      << "' font-family='sans-serif'>\n<rect width='100%' height='100%' fill='white'/>\n"
      << "<text x='40' y='36' font-size='20'>Placement " << in_xml(report.placement) << ": "
      << report.nodes << " nodes</text>\n";
  draw_ring(out, ring);
  draw_shares(out, report);
  out << "</svg>\n";
  out.flush();
  if (!out) {
    throw usage_error("file \"" + file + "\" can't be written; give one in a folder that exists");
  }
}

}  // namespace ring_tool
