// The ring is a function of the set of nodes: over many random sets and every placement, whatever
// the order and the steps by which the set came about.
#include <lifering/hash.hpp>
#include <map>

#include "ring_support.hpp"
#include "support/catch.hpp"

using namespace ring_test;

namespace {

constexpr int rounds = 12;

std::string name_of_placement(const placement_options& options) {
  return std::string{to_string(options.kind)} + (options.cap != 0 ? ", capped" : "") + ", label " +
         options.label;
}

}  // namespace

TEST_CASE("all orders of joins and leaves give one ring", "[ring][property]") {
  for (const placement_options& placement : all_placements()) {
    CAPTURE(name_of_placement(placement));
    for (int round = 0; round < rounds; ++round) {
      random_source random{static_cast<std::uint64_t>(round)};
      auto nodes = strange_nodes(random, 1 + random.below(40));
      const hash_ring expected = ring_of(placement, nodes);

      hash_ring walked{placement};
      random.shuffle(nodes);
      const auto passers = strange_nodes(random, 5);  // Come and go between the others.
      std::error_code ignored;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        walked.add(passers[i % passers.size()], ignored);
        walked.remove(nodes[i].name, ignored);  // In case a passer had its name.
        ring_node first = nodes[i];
        first.weight = weight_of(100 + random.below(3000));
        walked.add(first);
        walked.set_weight(first.name, nodes[i].weight);
        walked.remove(passers[random.below(passers.size())].name, ignored);
        walked.assign([&] {
          std::vector<ring_node> so_far(nodes.begin(),
                                        nodes.begin() + static_cast<std::ptrdiff_t>(i) + 1);
          random.shuffle(so_far);
          return so_far;
        }());
      }
      REQUIRE(same_ring(expected, walked));
    }
  }
}

TEST_CASE("a removal gives exactly the ring without that node", "[ring][property]") {
  for (const placement_options& placement : all_placements()) {
    CAPTURE(name_of_placement(placement));
    for (int round = 0; round < rounds; ++round) {
      random_source random{100 + static_cast<std::uint64_t>(round)};
      auto nodes = strange_nodes(random, 2 + random.below(60));
      hash_ring ring = ring_of(placement, nodes);
      while (nodes.size() > 1) {
        const std::size_t victim = random.below(nodes.size());
        ring.remove(nodes[victim].name);
        nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(victim));
        if (random.below(8) == 0) {
          REQUIRE(same_ring(ring_of(placement, nodes), ring));
        }
      }
      REQUIRE(same_ring(ring_of(placement, nodes), ring));
    }
  }
}

TEST_CASE("a batch gives the same ring as its changes one by one", "[ring][property]") {
  for (const placement_options& placement : all_placements()) {
    CAPTURE(name_of_placement(placement));
    random_source random{7};
    const auto before = address_nodes(100);
    auto after = before;
    after.erase(after.begin() + 10, after.begin() + 14);
    after[20].weight = weight_of(2500);
    after[21].weight = weight_of(0);
    after[22].zone = "elsewhere";
    const auto more = address_nodes(4, 500);
    after.insert(after.end(), more.begin(), more.end());
    hash_ring ring = ring_of(placement, before);
    const auto old = ring.snapshot();
    const std::uint64_t version = old.version();
    const ring_change change = ring.assign(after);
    CHECK(change.changed);
    CHECK(change.version == version + 1);
    CHECK(change.nodes == 100);
    CHECK(change.moved == diff(old, ring.view()).moved());
    CHECK(same_ring(ring_of(placement, after), ring));
  }
}

TEST_CASE("many joins, leaves and changes of weight in one batch give the ring of the set",
          "[ring][property]") {
  for (const placement_options& placement : all_placements()) {
    CAPTURE(name_of_placement(placement));
    for (const bool weights : {false, true}) {
      auto before = address_nodes(2000);
      for (std::size_t i = 0; weights && i < before.size(); ++i) {
        before[i].weight = weight_of(500 + i % 5 * 400);
      }
      hash_ring ring = ring_of(placement, before);
      const auto steps = [&](std::vector<ring_node> after) {
        const auto old = ring.snapshot();
        const ring_change change = ring.assign(after);
        REQUIRE(change.moved == diff(old, ring.view()).moved());
        REQUIRE(same_ring(ring_of(placement, after), ring));
      };
      auto fewer = before;
      fewer.erase(fewer.begin() + 100, fewer.begin() + 330);
      steps(fewer);
      steps(before);
      auto lighter = before;
      for (std::size_t i = 0; i < 230; ++i) {
        lighter[i * 7].weight = weight_of(300);
      }
      steps(lighter);
      steps(before);
    }
  }
}

TEST_CASE("a join takes keys only to the new node, and a leave only from the old one",
          "[ring][property]") {
  for (const placement_options& placement : all_placements()) {
    if (placement.cap != 0) {
      continue;  // A cap moves others' keys too.
    }
    CAPTURE(name_of_placement(placement));
    for (int round = 0; round < rounds; ++round) {
      random_source random{200 + static_cast<std::uint64_t>(round)};
      auto nodes = strange_nodes(random, 3 + random.below(30));
      const ring_node newcomer = nodes.back();
      nodes.pop_back();
      hash_ring ring = ring_of(placement, nodes);
      const auto without = ring.snapshot();
      const ring_change join = ring.add(newcomer);
      const auto with = ring.snapshot();
      const auto gained = diff(without, with);
      for (const auto& range : gained.ranges()) {
        REQUIRE(range.new_owner->name == newcomer.name);
      }
      REQUIRE(join.moved == gained.moved());
      REQUIRE(gained.moved() == with.share(newcomer.name));
      const ring_change leave = ring.remove(newcomer.name);
      REQUIRE(leave.moved == join.moved);
      const auto lost = diff(with, ring.view());
      for (const auto& range : lost.ranges()) {
        REQUIRE(range.old_owner->name == newcomer.name);
      }
    }
  }
}

TEST_CASE("a change of weight moves keys only to that node or from it", "[ring][property]") {
  for (const placement_options& placement : all_placements()) {
    if (placement.cap != 0) {
      continue;
    }
    CAPTURE(name_of_placement(placement));
    random_source random{300};
    auto nodes = strange_nodes(random, 30);
    hash_ring ring = ring_of(placement, nodes);
    for (int round = 0; round < 60; ++round) {
      ring_node& node = nodes[random.below(nodes.size())];
      const auto old_weight = node.weight;
      node.weight = weight_of(round % 7 == 0 ? 0 : 10 + random.below(5000));
      const auto before = ring.snapshot();
      const ring_change change = ring.set_weight(node.name, node.weight);
      const auto moves = diff(before, ring.view());
      REQUIRE(change.moved == moves.moved());
      for (const auto& range : moves.ranges()) {
        const ring_node* mover = node.weight > old_weight ? range.new_owner : range.old_owner;
        REQUIRE(mover != nullptr);
        REQUIRE(mover->name == node.name);
      }
    }
    REQUIRE(same_ring(ring_of(placement, nodes), ring));
  }
}

TEST_CASE("a change of zone moves no key, and is seen in the fingerprint", "[ring][property]") {
  for (const placement_options& placement : all_placements()) {
    hash_ring ring = ring_of(placement, {{"a"}, {"b"}});
    const std::uint64_t before = ring.fingerprint();
    const ring_change change = ring.assign({{"a", {}, "west"}, {"b"}});
    CHECK(change.changed);
    CHECK(change.moved == 0);
    CHECK(change.fingerprint != before);
  }
}

TEST_CASE("fingerprints differ wherever name, weight, zone or placement differ",
          "[ring][property]") {
  std::map<std::uint64_t, int> seen;
  const std::vector<std::vector<ring_node>> sets{
      {},
      {{"a"}},
      {{"b"}},
      {{"a"}, {"b"}},
      {{"ab"}},
      {{"a", weight_of(2000)}},
      {{"a", weight_of(0)}},
      {{"a", {}, "b"}},
      {{"a", {}, "bc"}},
      {{std::string("a\0", 2)}},
      {{std::string("a\0\0", 3)}},
  };
  auto placements = all_placements();
  placements.push_back(placement_options::slots());
  for (const placement_options& placement : placements) {
    for (const auto& nodes : sets) {
      ++seen[ring_of(placement, nodes).fingerprint()];
    }
  }
  CHECK(seen.size() == sets.size() * placements.size());
}

TEST_CASE("every way to look a key up gives the same owner", "[ring][property]") {
  for (const placement_options& placement : all_placements()) {
    CAPTURE(name_of_placement(placement));
    for (const std::size_t count : {1U, 2U, 17U, 300U}) {
      random_source random{count};
      const hash_ring ring = ring_of(placement, strange_nodes(random, count));
      const auto view = ring.view();
      std::vector<std::string> texts;
      for (int i = 0; i < 500; ++i) {
        texts.push_back(random.bytes(random.below(40)));
      }
      const std::vector<std::string_view> keys{texts.begin(), texts.end()};
      for (const std::size_t batch : {0U, 1U, 3U, 8U, 33U, 500U}) {
        std::vector<const ring_node*> owners(batch);
        view.owner(std::span{keys}.first(batch), owners);
        for (std::size_t i = 0; i < batch; ++i) {
          REQUIRE(owners[i] == view.owner(keys[i]));
        }
      }
      for (const std::string_view key : keys) {
        const ring_node* owner = view.owner(key);
        if (key.empty()) {
          REQUIRE(owner == nullptr);
          continue;
        }
        REQUIRE(view.owner_at(view.place(key)) == owner);
        const auto first = view.owners(key, 1);
        REQUIRE((first.empty() ? nullptr : first[0]) == owner);
        REQUIRE(ring.owner(key) == (owner == nullptr ? std::nullopt : std::optional{owner->name}));
      }
    }
  }
}

TEST_CASE("5000 nodes whose points all collide are a ring like any other", "[ring][property]") {
  for (const std::uint32_t distinct : {1U, 64U}) {
    CAPTURE(distinct);
    placement_options options;
    options.vnodes = 4;
    options.hash = distinct == 1 ? [](std::string_view) { return std::uint32_t{77}; }
                                 : [](std::string_view text) {
                                     return lifering::crc32(text) % 64 * 0x0400'0000U;
                                   };
    options.hash_id = distinct;
    random_source random{distinct};
    auto nodes = address_nodes(5000);
    const hash_ring whole = ring_of(options, nodes);
    CHECK(whole.points() == 20'000);
    if (distinct == 1) {
      CHECK(whole.owner("any") == "10.0.0.0:6379");
    }
    CHECK(whole.owners("any", 5000).size() == 5000);

    random.shuffle(nodes);
    hash_ring grown{options};
    for (std::size_t i = 0; i < nodes.size(); i += 10) {
      grown.assign({nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i) + 10});
    }
    CHECK(same_ring(whole, grown));

    for (int i = 0; i < 300; ++i) {
      grown.remove(nodes.back().name);
      nodes.pop_back();
    }
    CHECK(same_ring(ring_of(options, nodes), grown));
  }
}
