// Preference lists, zones, filters and bounded loads.
#include <array>
#include <map>
#include <set>

#include "ring_support.hpp"
#include "support/catch.hpp"

using namespace ring_test;

namespace {

std::vector<ring_node> without_zones(std::vector<ring_node> nodes) {
  for (ring_node& node : nodes) {
    node.zone.clear();
  }
  return nodes;
}

std::size_t owning(const std::vector<ring_node>& nodes) {
  return static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const ring_node& n) { return !n.weight.owns_nothing(); }));
}

}  // namespace

TEST_CASE("the list for n is a prefix of the list for n + 1, and begins with the owner",
          "[ring][replicas]") {
  for (const placement_options& placement : all_placements()) {
    for (const bool zones : {false, true}) {
      random_source random{zones ? 1U : 2U};
      auto nodes = strange_nodes(random, 40);
      if (!zones) {
        nodes = without_zones(nodes);
      }
      const hash_ring ring = ring_of(placement, nodes);
      const auto view = ring.view();
      for (const std::string& key : some_keys(100)) {
        const auto all = view.owners(key, 1000);
        REQUIRE(all.size() == owning(nodes));
        REQUIRE(std::set<const ring_node*>(all.begin(), all.end()).size() == all.size());
        REQUIRE(all.front() == view.owner(key));
        for (std::size_t n = 0; n <= all.size(); ++n) {
          const auto some = view.owners(key, n);
          REQUIRE(some.size() == n);
          REQUIRE(std::equal(some.begin(), some.end(), all.begin()));
        }
      }
    }
  }
}

TEST_CASE("when the first dies the second takes over, without zones and without a cap",
          "[ring][replicas]") {
  for (const placement_options& placement : all_placements()) {
    if (placement.cap != 0) {
      continue;
    }
    random_source random{3};
    const auto nodes = without_zones(strange_nodes(random, 25));
    for (const ring_node& dying : nodes) {
      const hash_ring before = ring_of(placement, nodes);
      hash_ring after = ring_of(placement, nodes);
      after.remove(dying.name);
      for (const std::string& key : some_keys(50)) {
        auto expected = before.owners(key, 5);
        std::erase(expected, dying.name);
        expected.resize(std::min<std::size_t>(expected.size(), 4));
        REQUIRE(after.owners(key, 4) == expected);
      }
    }
  }
}

TEST_CASE("a filter gives the list of a ring without those nodes", "[ring][replicas]") {
  for (const placement_options& placement : all_placements()) {
    if (placement.cap != 0) {
      continue;
    }
    for (const bool zones : {false, true}) {
      random_source random{4};
      auto nodes = strange_nodes(random, 40);
      if (!zones) {
        nodes = without_zones(nodes);
      }
      std::set<std::string> bad;
      auto good = nodes;
      std::erase_if(good, [&](const ring_node& node) {
        return random.below(2) == 0 && bad.insert(node.name).second;
      });
      const hash_ring all = ring_of(placement, nodes);
      const hash_ring rest = ring_of(placement, good);
      const auto skip = [&bad](const ring_node& node) { return bad.count(node.name) != 0; };
      for (const std::string& key : some_keys(100)) {
        REQUIRE(names_of(all.view().owners(key, 6, skip)) == rest.owners(key, 6));
      }
      CHECK(all.view().owners("key", 5, [](const ring_node&) { return true; }).empty());
    }
  }
}

TEST_CASE("replicas use each zone once before any zone twice", "[ring][replicas]") {
  for (const placement_options& placement : all_placements()) {
    std::vector<ring_node> nodes = address_nodes(30);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i].zone = i < 20 ? "big" : i < 29 ? "middle" : "small";
    }
    const hash_ring ring = ring_of(placement, nodes);
    const auto view = ring.view();
    for (const std::string& key : some_keys(300)) {
      const auto three = view.owners(key, 3);
      std::set<std::string> zones;
      for (const ring_node* node : three) {
        zones.insert(node->zone);
      }
      REQUIRE(zones.size() == 3);
      // After the zones, the order is that without zones, less those taken.
      auto plain = names_of(ring_of(placement, without_zones(nodes)).view().owners(key, 30));
      for (const ring_node* node : three) {
        std::erase(plain, node->name);
      }
      auto rest = names_of(view.owners(key, 30));
      rest.erase(rest.begin(), rest.begin() + 3);
      REQUIRE(rest == plain);
    }
  }
}

TEST_CASE("a list is cut to the span that it is given", "[ring][replicas]") {
  const hash_ring ring = ring_of({}, address_nodes(10));
  const auto view = ring.view();
  std::array<const ring_node*, 4> out{};
  CHECK(view.owners("key", std::span{out}.first(0)) == 0);
  CHECK(view.owners("key", out) == 4);
  CHECK(view.owners("", out) == 0);
  CHECK(view.owners("key", 4) == std::vector<const ring_node*>(out.begin(), out.end()));
}

TEST_CASE("pick takes the owner while its load is below its bound, then the next",
          "[ring][replicas]") {
  for (const placement_options& placement : all_placements()) {
    const hash_ring ring = ring_of(placement, {{"a"}, {"b"}, {"c"}, {"d"}});
    const auto view = ring.view();
    const auto order = names_of(view.owners("key", 4));
    std::map<std::string, std::uint64_t> loads;
    const auto load = [&loads](const ring_node& node) { return loads[node.name]; };

    CHECK(view.pick("key", load, 1250)->name == order[0]);
    // 20 in all, and one to come: the fair share is 5.25, the bound 1.25 times that, 6.5625.
    loads = {{order[0], 6}, {order[1], 6}, {order[2], 4}, {order[3], 4}};
    CHECK(view.pick("key", load, 1250)->name == order[0]);
    loads = {{order[0], 7}, {order[1], 5}, {order[2], 4}, {order[3], 4}};
    CHECK(view.pick("key", load, 1250)->name == order[1]);
    loads = {{order[0], 8}, {order[1], 8}, {order[2], 4}, {order[3], 0}};
    CHECK(view.pick("key", load, 1250)->name == order[2]);
    CHECK(view.pick("key", load, 20, 1250)->name == order[2]);
    CHECK(view.pick("", load, 1250) == nullptr);
  }
}

TEST_CASE("pick tries nodes in the order of owners(), zones and weights included",
          "[ring][replicas]") {
  for (const placement_options& placement : all_placements()) {
    for (const bool zones : {false, true}) {
      random_source random{9};
      auto nodes = strange_nodes(random, 30);
      if (!zones) {
        nodes = without_zones(nodes);
      }
      const hash_ring ring = ring_of(placement, nodes);
      const auto view = ring.view();
      for (const std::string& key : some_keys(40)) {
        const auto order = view.owners(key, nodes.size());
        for (std::size_t busy = 0; busy < order.size(); ++busy) {
          const auto load = [&](const ring_node& node) {
            const auto end = order.begin() + static_cast<std::ptrdiff_t>(busy);
            const bool is_busy = std::find(order.begin(), end, &node) != end;
            return std::uint64_t{is_busy ? 1'000'000U : 0U};
          };
          REQUIRE(view.pick(key, load, 0, 1001) == order[busy]);
        }
      }
    }
  }
}

TEST_CASE("pick counts weights: who weighs twice may carry twice", "[ring][replicas]") {
  hash_ring ring = ring_of({}, {{"heavy", weight_of(2000)}, {"light"}});
  std::string key = "k";
  while (ring.owner(key) != "heavy") {
    key += 'k';
  }
  // 8 in all and one to come: heavy's share is 6, times 1.1 is 6.6.
  std::uint64_t heavy = 6;
  const auto load = [&heavy](const ring_node& node) {
    return node.name == "heavy" ? heavy : 8 - heavy;
  };
  CHECK(ring.view().pick(key, load, 1100)->name == "heavy");
  heavy = 7;
  CHECK(ring.view().pick(key, load, 1100)->name == "light");
}

TEST_CASE("with picks no load exceeds the bound, and few keys leave their owner",
          "[ring][replicas]") {
  for (const placement_options& placement : all_placements()) {
    const hash_ring ring = ring_of(placement, address_nodes(20));
    const auto view = ring.view();
    std::map<std::string, std::uint64_t> loads;
    std::uint64_t total = 0;
    for (const std::string& key : some_keys(4000)) {
      const auto load = [&loads](const ring_node& node) { return loads[node.name]; };
      ++loads[view.pick(key, load, total++, 1250)->name];
    }
    for (const auto& [name, load] : loads) {
      CHECK(load <= 4000 / 20 * 5 / 4 + 1);
    }
  }
}
