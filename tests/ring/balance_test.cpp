// How even shares are, from exact arcs: each placement against what theory says of it.
#include <cmath>
#include <map>

#include "ring_support.hpp"
#include "support/catch.hpp"

using namespace ring_test;

namespace {

struct spread {
  double busiest = 0;
  double deviation = 0;  ///< Standard deviation of shares over the fair one.
};

spread spread_of(const placement_options& placement, const std::vector<ring_node>& nodes) {
  const hash_ring ring = ring_of(placement, nodes);
  const auto view = ring.view();
  double weights = 0;
  std::map<const ring_node*, double> shares;
  for (const ring_node* node : view.nodes()) {
    weights += node->weight.thousandths();
    shares[node] = 0;
  }
  hash_ring nothing{placement};
  const auto all = diff(nothing.view(), view);
  for (const auto& range : all.ranges()) {
    shares[range.new_owner] += static_cast<double>(range.size()) / 4294967296.0;
  }
  spread result;
  for (const auto& [node, share] : shares) {
    const double relative = share * weights / node->weight.thousandths();
    result.busiest = std::max(result.busiest, relative);
    result.deviation += (relative - 1) * (relative - 1);
  }
  result.deviation = std::sqrt(result.deviation / static_cast<double>(shares.size()));
  return result;
}

placement_options slots_of(std::uint32_t segments, std::uint32_t cap = 0) {
  placement_options options = placement_options::slots();
  options.segments = segments;
  options.cap = cap;
  return options;
}

}  // namespace

TEST_CASE("plain CRC-32 is uneven for names of equal length, and mixing mends it",
          "[ring][balance]") {
  const auto nodes = address_nodes(100);
  const spread classic = spread_of(placement_options::classic(), nodes);
  const spread mixed = spread_of(placement_options::mixed(), nodes);
  CHECK(classic.busiest > 1.9);
  CHECK(classic.busiest < 2.3);
  const double random = std::sqrt(99.0 / 15'001.0);
  CHECK(classic.deviation > 3 * random);
  CHECK(mixed.deviation == Approx(random).epsilon(0.25));
  CHECK(mixed.busiest < 1.35);
}

TEST_CASE("shares of slots vary as ranks promise: half the variance of independent draws",
          "[ring][balance]") {
  for (const std::size_t count : {10U, 100U, 400U}) {
    const double n = static_cast<double>(count);
    const double theory = std::sqrt(n * (n - 1) / (2 * n - 1) / std::exp2(16));
    CAPTURE(count, theory);
    // Over several sets of names, as ten nodes alone vary a good deal.
    double sum = 0;
    for (std::size_t set = 0; set < 10; ++set) {
      const spread s = spread_of(slots_of(16), address_nodes(count, set * 1000));
      sum += s.deviation * s.deviation;
    }
    CHECK(std::sqrt(sum / 10) == Approx(theory).epsilon(0.2));
  }
}

TEST_CASE("shares of slots are in proportion to the weights", "[ring][balance]") {
  std::vector<ring_node> nodes = address_nodes(12);
  constexpr std::uint64_t weights[] = {250, 500, 1000, 2000, 8000, 100};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].weight = weight_of(weights[i % 6]);
  }
  const hash_ring ring = ring_of(slots_of(20), nodes);
  const auto view = ring.view();
  double total = 0;
  for (const ring_node& node : nodes) {
    total += node.weight.thousandths();
  }
  for (const ring_node& node : nodes) {
    const double expected = node.weight.thousandths() / total;
    const double segments = expected * std::exp2(20);
    const double share = static_cast<double>(view.share(node.name)) / 4294967296.0;
    CAPTURE(node.name, expected, share);
    CHECK(std::abs(share - expected) / expected < 4.5 / std::sqrt(segments));
  }
}

TEST_CASE("with two nodes, of which one weighs twice, shares are a third and two thirds",
          "[ring][balance]") {
  // Ranks divided by weights would give a quarter and three quarters: it takes the logarithm.
  const hash_ring ring = ring_of(slots_of(20), {{"light"}, {"heavy", weight_of(2000)}});
  const double share = static_cast<double>(ring.view().share("heavy")) / 4294967296.0;
  CHECK(share == Approx(2.0 / 3).margin(0.003));
}

TEST_CASE("a cap holds, and segments beyond it go to others", "[ring][balance]") {
  for (const std::uint32_t cap : {30U, 50U, 200U}) {
    CAPTURE(cap);
    const spread s = spread_of(slots_of(14, cap), address_nodes(100));
    CHECK(s.busiest <= 1 + cap / 1000.0 + 1e-9);
    std::vector<ring_node> weighted = address_nodes(60);
    for (std::size_t i = 0; i < weighted.size(); ++i) {
      weighted[i].weight = weight_of(500 * (1 + i % 4));
    }
    CHECK(spread_of(slots_of(16, cap), weighted).busiest <= 1 + cap / 1000.0 + 1e-9);
  }
}

TEST_CASE("a capped join moves little more than it must", "[ring][balance]") {
  hash_ring ring = ring_of(slots_of(16, 50), address_nodes(100));
  double moved = 0;
  for (int i = 0; i < 10; ++i) {
    const ring_change change = ring.add({"newcomer-" + std::to_string(i)});
    moved += change.moved_share() * static_cast<double>(change.nodes);
  }
  CHECK(moved / 10 < 1.1);
}

TEST_CASE("the keys of a node that leaves scatter over the others", "[ring][balance]") {
  const auto top_heir = [](const placement_options& placement) {
    hash_ring ring = ring_of(placement, address_nodes(100));
    const auto before = ring.snapshot();
    const std::string victim = address_nodes(100)[42].name;
    ring.remove(victim);
    std::map<std::string, double> heirs;
    const auto moves = diff(before, ring.view());
    for (const auto& range : moves.moved_from(victim)) {
      heirs[range.new_owner->name] += static_cast<double>(range.size());
    }
    double top = 0;
    double all = 0;
    for (const auto& [name, share] : heirs) {
      top = std::max(top, share);
      all += share;
    }
    return top / all;
  };
  CHECK(top_heir(placement_options::mixed()) < 0.1);
  CHECK(top_heir(placement_options::slots()) < 0.03);
}
