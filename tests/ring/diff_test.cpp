// What moved between two states.
#include "ring_support.hpp"
#include "support/catch.hpp"

using namespace ring_test;

namespace {

std::string name(const ring_node* node) {
  return node == nullptr ? "" : node->name;
}

// Owners of places around every end of a range, and of random places, against the ranges.
void check_ranges(const lifering::ring_diff& moves, const ring_table& before,
                  const ring_table& after, random_source& random) {
  std::vector<std::uint32_t> places{0, ~std::uint32_t{0}};
  for (const auto& range : moves.ranges()) {
    places.insert(places.end(), {range.from - 1, range.from, range.to, range.to + 1});
  }
  for (int i = 0; i < 2000; ++i) {
    places.push_back(static_cast<std::uint32_t>(random.next()));
  }
  for (const std::uint32_t place : places) {
    const auto& ranges = moves.ranges();
    const auto at = std::lower_bound(
        ranges.begin(), ranges.end(), place,
        [](const lifering::moved_range& range, std::uint32_t p) { return range.to < p; });
    const bool moved = at != ranges.end() && at->from <= place;
    const std::string was = name(before.owner_at(place));
    const std::string is = name(after.owner_at(place));
    REQUIRE(moved == (was != is));
    if (moved) {
      REQUIRE(name(at->old_owner) == was);
      REQUIRE(name(at->new_owner) == is);
    }
  }
}

}  // namespace

TEST_CASE("a diff holds exactly the places that changed owner", "[ring][diff]") {
  for (const placement_options& placement : all_placements()) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      random_source random{seed};
      const auto first = strange_nodes(random, random.below(20));
      const auto second = strange_nodes(random, random.below(20));
      hash_ring ring = ring_of(placement, first);
      const auto before = ring.snapshot();
      const ring_change change = ring.assign(second);
      const auto after = ring.snapshot();
      const auto moves = diff(before, after);
      REQUIRE(moves.moved() == change.moved);
      check_ranges(moves, before, after, random);
    }
  }
}

TEST_CASE("ranges are sorted, apart and merged", "[ring][diff]") {
  for (const placement_options& placement : all_placements()) {
    hash_ring ring = ring_of(placement, address_nodes(30));
    const auto before = ring.snapshot();
    ring.remove(address_nodes(30)[7].name);
    ring.add({"newcomer"});
    const auto moves = diff(before, ring.view());
    const auto ranges = moves.ranges();
    REQUIRE(!ranges.empty());
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      REQUIRE(ranges[i].from <= ranges[i].to);
      REQUIRE(name(ranges[i].old_owner) != name(ranges[i].new_owner));
      if (i > 0) {
        REQUIRE(ranges[i - 1].to < ranges[i].from);
        const bool touch = ranges[i - 1].to + 1 == ranges[i].from;
        const bool alike = name(ranges[i - 1].old_owner) == name(ranges[i].old_owner) &&
                           name(ranges[i - 1].new_owner) == name(ranges[i].new_owner);
        REQUIRE(!(touch && alike));
      }
    }
  }
}

TEST_CASE("what moved to and from a node are its parts of the diff", "[ring][diff]") {
  for (const placement_options& placement : all_placements()) {
    hash_ring ring = ring_of(placement, {{"a"}, {"b"}, {"c"}});
    const auto before = ring.snapshot();
    ring.assign({{"a"}, {"c"}, {"d"}});
    const auto after = ring.snapshot();
    const auto moves = diff(before, after);
    const auto sum = [](const std::vector<lifering::moved_range>& ranges) {
      std::uint64_t total = 0;
      for (const auto& range : ranges) {
        total += range.size();
      }
      return total;
    };
    CHECK(sum(moves.moved_to("d")) == after.share("d"));
    CHECK(sum(moves.moved_from("b")) == before.share("b"));
    CHECK(moves.moved_to("b").empty());
    CHECK(moves.moved_from("d").empty());
    CHECK(moves.moved_to("nobody").empty());
    std::uint64_t gained = 0;
    std::uint64_t lost = 0;
    for (const char* node : {"a", "b", "c", "d"}) {
      gained += sum(moves.moved_to(node));
      lost += sum(moves.moved_from(node));
    }
    CHECK(gained == moves.moved());
    CHECK(lost == moves.moved());
  }
}

TEST_CASE("from and to an empty ring everything moves", "[ring][diff]") {
  for (const placement_options& placement : all_placements()) {
    hash_ring ring{placement};
    const auto empty = ring.snapshot();
    CHECK(diff(empty, empty).moved() == 0);
    const ring_change join = ring.add({"a"});
    CHECK(join.moved == std::uint64_t{1} << 32);
    CHECK(join.moved_share() == 1.0);
    const auto moves = diff(empty, ring.view());
    REQUIRE(moves.ranges().size() == 1);
    CHECK(moves.ranges()[0].from == 0);
    CHECK(moves.ranges()[0].to == ~std::uint32_t{0});
    CHECK(moves.ranges()[0].old_owner == nullptr);
    CHECK(ring.reset().moved == std::uint64_t{1} << 32);
  }
}

TEST_CASE("a diff outlives the ring and compares different placements", "[ring][diff]") {
  const auto moves = [] {
    const hash_ring classic = ring_of(placement_options::classic(), {{"a"}, {"b"}});
    const hash_ring slots = ring_of(placement_options::slots(), {{"a"}, {"b"}});
    return diff(classic.view(), slots.view());
  }();
  CHECK(moves.moved() > 0);
  CHECK(moves.moved() < std::uint64_t{1} << 32);
  CHECK(!moves.ranges()[0].new_owner->name.empty());
}

TEST_CASE("shares add up to the circle", "[ring][diff]") {
  for (const placement_options& placement : all_placements()) {
    const hash_ring ring = ring_of(placement, address_nodes(17));
    const auto view = ring.view();
    std::uint64_t sum = 0;
    for (const ring_node* node : view.nodes()) {
      sum += view.share(node->name);
    }
    CHECK(sum == std::uint64_t{1} << 32);
    CHECK(view.share("nobody") == 0);
  }
}
