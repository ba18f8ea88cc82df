// What holds of every foreign placement, as of ours; and which of our promises which of them keeps.
#include <array>
#include <lifering/compat.hpp>

#include "ring/ring_support.hpp"
#include "support/catch.hpp"

using namespace ring_test;
namespace compat = lifering::compat;

namespace {

/// A placement, and whether a node that goes leaves the others' keys where they are.
struct candidate {
  const char* text;
  bool moves_only_its_own;
};

constexpr candidate candidates[] = {
    {"nginx", true},
    {"nginx:method=modulo", false},
    {"haproxy:number=name", true},
    {"haproxy:hash=crc32,avalanche=off", false},
    {"haproxy:key=addr-port", true},
    {"ketama:weighted=off", true},
    {"ketama:distribution=modula,hash=crc16", false},
#if !defined(LIFERING_NO_MD5)
    {"ketama", false},
    {"ketama:client=twemproxy", false},
#endif
    {"envoy_ring", false},
    {"envoy_ring:min=64,max=100,hash=murmur2", false},
    {"maglev", false},
    {"maglev:size=101", false},
    {"redis_slots", false},
    {"kafka:partitions=64", false},
    {"kafka:partitions=64,assign=round_robin", false},
};

/// Nodes of whole weights, 0 among them.
std::vector<ring_node> some_nodes(std::size_t count) {
  std::vector<ring_node> nodes = address_nodes(count);
  for (std::size_t i = 0; i < count; ++i) {
    nodes[i].weight = weight_of(1000 * (i % 4));
    nodes[i].zone = i % 3 == 0 ? "" : "z" + std::to_string(i % 3);
  }
  return nodes;
}

}  // namespace

TEST_CASE("a foreign ring is a function of its set of nodes, not of history", "[compat]") {
  for (const candidate& each : candidates) {
    CAPTURE(each.text);
    const auto placement = compat::parse(each.text);
    random_source random{5};
    std::vector<ring_node> nodes = some_nodes(12);
    const hash_ring at_once = ring_of(placement, nodes);
    random.shuffle(nodes);
    hash_ring one_by_one{placement};
    for (const ring_node& node : nodes) {
      one_by_one.add({node.name, weight_of(7000), node.zone});
    }
    one_by_one.add({"10.9.9.9:1"});
    one_by_one.remove("10.9.9.9:1");
    for (const ring_node& node : nodes) {
      one_by_one.set_weight(node.name, node.weight);
    }
    CHECK(same_ring(at_once, one_by_one));
  }
}

TEST_CASE("all ways of a lookup agree, and replicas begin with the owner", "[compat]") {
  const auto keys = some_keys(2000);
  for (const candidate& each : candidates) {
    CAPTURE(each.text);
    const hash_ring ring = ring_of(compat::parse(each.text), some_nodes(12));
    const auto view = ring.view();
    const std::vector<std::string_view> asked(keys.begin(), keys.end());
    std::vector<const ring_node*> answers(keys.size());
    view.owner(asked, answers);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const ring_node* owner = view.owner(keys[i]);
      REQUIRE(owner != nullptr);
      REQUIRE(!owner->weight.owns_nothing());
      REQUIRE(answers[i] == owner);
      REQUIRE(view.owner_at(view.place(keys[i])) == owner);
      REQUIRE(view.owners(keys[i], 1).front() == owner);
      const auto all = view.owners(keys[i], 99);
      REQUIRE(all.size() == 9);  // Those of positive weight.
      for (std::size_t n = 1; n < all.size(); ++n) {
        REQUIRE(view.owners(keys[i], n) ==
                std::vector(all.begin(), all.begin() + std::ptrdiff_t(n)));
        REQUIRE(std::find(all.begin(), all.begin() + std::ptrdiff_t(n), all[n]) ==
                all.begin() + std::ptrdiff_t(n));
      }
    }
    CHECK(view.owner("") == nullptr);
    CHECK(view.owners("", 3).empty());
  }
}

TEST_CASE("what moved is what a comparison finds, and shares fill the circle", "[compat]") {
  for (const candidate& each : candidates) {
    CAPTURE(each.text);
    hash_ring ring{compat::parse(each.text)};
    std::vector<ring_node> nodes = some_nodes(8);
    auto before = ring.snapshot();
    const auto holds = [&](const ring_change& change) {
      const auto after = ring.snapshot();
      CHECK(change.moved == lifering::diff(before, after).moved());
      std::uint64_t sum = 0;
      for (const ring_node* node : after.nodes()) {
        sum += after.share(node->name);
      }
      CHECK(sum == (after.owner("key") == nullptr ? 0 : std::uint64_t{1} << 32));
      before = after;
    };
    holds(ring.assign(nodes));
    holds(ring.add({"10.7.7.7:1"}));
    holds(ring.set_weight(nodes[1].name, weight_of(5000)));
    holds(ring.set_weight(nodes[2].name, weight_of(0)));
    holds(ring.remove(nodes[3].name));
    holds(ring.reset());
    CHECK(ring.view().owner("key") == nullptr);
    CHECK(ring.view().pick(
              "key", [](const ring_node&) { return std::uint64_t{0}; }, 1250) == nullptr);
  }
}

TEST_CASE("a node that goes takes its own keys where the system says so", "[compat]") {
  for (const candidate& each : candidates) {
    CAPTURE(each.text);
    hash_ring ring = ring_of(compat::parse(each.text), some_nodes(12));
    const auto before = ring.snapshot();
    const std::string gone = before.owner("key")->name;
    ring.remove(gone);
    std::uint64_t others = 0;
    const auto moves = lifering::diff(before, ring.view());
    for (const auto& range : moves.ranges()) {
      others += range.old_owner->name == gone ? 0 : range.size();
    }
    CHECK((others == 0) == each.moves_only_its_own);
    CHECK(before.share(gone) + others == moves.moved());
  }
}

TEST_CASE(
    "without zones the second of the preference takes over, where only a node's own keys move",
    "[compat]") {
  const auto keys = some_keys(500);
  for (const candidate& each : candidates) {
    CAPTURE(each.text);
    if (!each.moves_only_its_own || std::string_view{each.text}.starts_with("haproxy")) {
      continue;  // HAProxy's nearest point is on either side; the next one is clockwise.
    }
    for (const std::string& key : keys) {
      hash_ring ring = ring_of(compat::parse(each.text), address_nodes(5));
      const auto order = ring.owners(key, 5);
      ring.remove(order[0]);
      REQUIRE(ring.owners(key, 4) == std::vector(order.begin() + 1, order.end()));
    }
  }
}

TEST_CASE("a list of servers decides the order, and names decide where it is silent", "[compat]") {
  const auto nodes = address_nodes(6);
  std::vector<std::string> names;
  for (const ring_node& node : nodes) {
    names.push_back(node.name);
  }
  std::vector<std::string> reversed(names.rbegin(), names.rend());
  for (const char* text :
       {"nginx:method=modulo", "haproxy", "ketama:distribution=modula,hash=crc16",
        "envoy_ring:min=1,max=5", "redis_slots"}) {
    CAPTURE(text);
    const auto by_name = compat::parse(text);
    const auto given = compat::with_servers(by_name, names, {});
    const auto turned = compat::with_servers(by_name, reversed, {});
    const auto partly = compat::with_servers(by_name, {names[5]}, {});
    const hash_ring ring = ring_of(by_name, nodes);
    CHECK(lifering::diff(ring.view(), ring_of(given, nodes).view()).moved() == 0);
    CHECK(lifering::diff(ring.view(), ring_of(turned, nodes).view()).moved() > 0);
    CHECK(ring.fingerprint() != ring_of(given, nodes).fingerprint());
    const auto first = compat::with_servers(
        by_name, {names[5], names[0], names[1], names[2], names[3], names[4]}, {});
    CHECK(lifering::diff(ring_of(partly, nodes).view(), ring_of(first, nodes).view()).moved() == 0);
  }
}

TEST_CASE("ids stand for names", "[compat]") {
  for (const char* text : {"nginx", "haproxy:key=addr-port", "haproxy:key=guid",
                           "ketama:weighted=off", "envoy_ring", "maglev"}) {
    CAPTURE(text);
    const hash_ring plain = ring_of(compat::parse(text), {{"10.0.0.1:80"}, {"10.0.0.2:80"}});
    const hash_ring named = ring_of(
        compat::with_servers(compat::parse(text), {}, {{"a", "10.0.0.1:80"}, {"b", "10.0.0.2:80"}}),
        {{"a"}, {"b"}});
    for (const std::string& key : some_keys(300)) {
      REQUIRE((plain.owner(key) == "10.0.0.1:80") == (named.owner(key) == "a"));
    }
  }
}
