// Envoy's ring_hash (ring_hash_lb.cc), whose rule gRPC took over (proposal A42).
#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "ring/compat/envoy.hpp"
#include "ring/compat/murmur.hpp"
#include "ring/compat/system_rule.hpp"
#include "ring/compat/wide_circle.hpp"
#include "ring/compat/xxhash.hpp"

namespace lifering::compat {

namespace {

constexpr std::uint64_t murmur_seed = 0xc70f'6907;

std::uint64_t point_hash(envoy_ring::hashes hash, std::string_view text) noexcept {
  return hash == envoy_ring::hashes::murmur2 ? murmur2_64(text, murmur_seed) : xxhash64(text, 0);
}

constexpr std::uint64_t ring_max = 8'388'608;

/// The least whole number that isn't below; of numbers that an integer holds.
double ceiling(double value) {
  const auto whole = static_cast<double>(static_cast<std::uint64_t>(value));
  return whole < value ? whole + 1 : whole;
}

class envoy_ring_rule final : public system_rule<envoy_ring_rule, envoy_ring> {
 public:
  static constexpr std::string_view name = "envoy_ring";
  using system_rule::system_rule;

  template <class Visitor>
  static void describe(envoy_ring& o, Visitor& visit) {
    visit.number("min", o.minimum, std::uint64_t{1}, ring_max);
    visit.number("max", o.maximum, std::uint64_t{1}, ring_max);
    visit.word("hash", o.hash, std::array<std::string_view, 2>{"xxhash64", "murmur2"});
    visit.number("unit", o.unit, 1U, 1000U);
    visit.order(o.order);
    visit.ids(o.ids);
  }

  std::optional<problem> refuse(node_span nodes) const override {
    return refuse_servers(name, nodes, servers(nodes), options().unit);
  }

  void warn(node_span nodes, std::vector<std::string>& found) const override {
    std::vector<point> points;
    build(nodes, points);
    std::vector<bool> owns(nodes.size() + 1);
    for (const point& each : points) {
      owns[each.owner] = true;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!owns[i + 1] && !nodes[i]->weight.owns_nothing()) {
        found.push_back("envoy_ring: " + base::quoted(nodes[i]->name) + " gets none of " +
                        std::to_string(points.size()) + " points and so no key; raise max, " +
                        std::to_string(options().maximum));
      }
    }
  }

  std::uint64_t count_points(node_span /*nodes*/) const override { return options().maximum + 1; }

  std::unique_ptr<const foreign_table> build(node_span nodes,
                                             std::vector<point>& points) const override {
    const auto all = servers(nodes);
    std::vector<wide_point> wide;
    if (!all.empty()) {
      const auto weights = normalise(all);
      const double wanted = ceiling(weights.least * static_cast<double>(options().minimum));
      const double scale = std::min(wanted / weights.least, static_cast<double>(options().maximum));
      double current = 0;
      double target = 0;
      for (std::size_t server = 0; server < all.size(); ++server) {
        const double more = scale * weights.parts[server];
        target += more;
        std::string label = std::string{all[server].id} + '_';
        const std::size_t number_at = label.size();
        for (std::uint64_t i = 0; current < target; ++i, current += 1) {
          label.resize(number_at);
          label += std::to_string(i);
          wide.push_back({point_hash(options().hash, label), all[server].slot});
        }
      }
    }
    return std::make_unique<envoy_table>(options().hash, wide_circle{std::move(wide), points});
  }

 private:
  std::optional<problem> check() const override {
    if (options().minimum > options().maximum) {
      return bad_option("envoy_ring: min is " + std::to_string(options().minimum) +
                        ", above max, which is " + std::to_string(options().maximum));
    }
    return std::nullopt;
  }

  std::vector<server> servers(node_span nodes) const {
    return weighty(servers_of(nodes, options().order, options().ids, options().unit));
  }
};

}  // namespace

std::uint32_t envoy_table::place(std::string_view key) const noexcept {
  return place_of(point_hash(hash_, key));
}

placement_options envoy_ring::placement() const {
  return placement_by(std::make_shared<const envoy_ring_rule>(*this));
}

std::shared_ptr<const compat_rule> read_envoy_ring(const option_list& given, problem& wrong) {
  return read_rule<envoy_ring_rule, envoy_ring>(given, wrong);
}

}  // namespace lifering::compat
