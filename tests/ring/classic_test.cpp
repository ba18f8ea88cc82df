// The classic ring, as its users meet it.
#include <map>
#include <thread>

#include "ring_support.hpp"
#include "support/catch.hpp"

using namespace ring_test;
using lifering::errc;

namespace {

std::error_code try_add(hash_ring& ring, const std::string& name) {
  std::error_code error;
  ring.add({name}, error);
  return error;
}

std::error_code try_remove(hash_ring& ring, const std::string& name) {
  std::error_code error;
  ring.remove(name, error);
  return error;
}

}  // namespace

TEST_CASE("the brief's example has the brief's owners", "[ring][classic]") {
  hash_ring ring;
  ring.add({"10.0.0.1:6379"});
  ring.add({"10.0.0.2:6379"});
  ring.add({"10.0.0.3:6379"});
  CHECK(ring.owner("user:12345") == "10.0.0.2:6379");
  ring.remove("10.0.0.2:6379");
  CHECK(ring.owner("user:12345") == "10.0.0.1:6379");
}

TEST_CASE("a node has 150 points unless told otherwise, and 0 means 150", "[ring][classic]") {
  hash_ring ring;
  ring.add({"a"});
  CHECK(ring.points() == 150);
  ring.add({"b"});
  CHECK(ring.points() == 300);
  ring.remove("a");
  CHECK(ring.points() == 150);

  placement_options options;
  options.vnodes = 10;
  CHECK(ring_of(options, {{"a"}}).points() == 10);
  options.vnodes = 0;
  CHECK(ring_of(options, {{"a"}}).points() == 150);
}

TEST_CASE("an empty ring and an empty key have no owner", "[ring][classic]") {
  for (const placement_options& placement : all_placements()) {
    hash_ring ring{placement};
    CHECK(!ring.owner("key"));
    CHECK(ring.owners("key", 3).empty());
    CHECK(ring.size() == 0);
    ring.add({"a"});
    CHECK(ring.owner("key") == "a");
    CHECK(!ring.owner(""));
    CHECK(ring.owners("", 3).empty());
    ring.remove("a");
    CHECK(!ring.owner("key"));
  }
}

TEST_CASE("a node of weight 0 is known and owns nothing", "[ring][classic]") {
  for (const placement_options& placement : all_placements()) {
    hash_ring ring = ring_of(placement, {{"observer", weight_of(0)}});
    CHECK(ring.size() == 1);
    CHECK(!ring.owner("key"));
    CHECK(ring.owners("key", 3).empty());
    ring.add({"worker"});
    CHECK(ring.owner("key") == "worker");
    CHECK(ring.owners("key", 3) == std::vector<std::string>{"worker"});
    CHECK(ring.view()
              .pick(
                  "key", [](const ring_node&) { return 1U; }, 1250)
              ->name == "worker");
  }
}

TEST_CASE("a change that is refused changes nothing", "[ring][classic]") {
  hash_ring ring;
  ring.add({"a"});
  const auto before = ring.snapshot();
  CHECK(try_add(ring, "") == errc::empty_name);
  CHECK(try_add(ring, "a") == errc::duplicate_node);
  CHECK(try_add(ring, std::string(256, 'x')) == errc::name_too_long);
  CHECK(try_remove(ring, "b") == errc::unknown_node);
  CHECK(try_remove(ring, "") == errc::empty_name);
  std::error_code error;
  ring.set_weight("b", {}, error);
  CHECK(error == errc::unknown_node);
  ring.add({"b", {}, std::string(65, 'z')}, error);
  CHECK(error == errc::zone_too_long);
  ring.assign({{"b"}, {"c"}, {"b"}}, error);
  CHECK(error == errc::duplicate_node);
  ring.assign({{"b"}, {""}}, error);
  CHECK(error == errc::empty_name);
  CHECK(same_ring(before, ring.view()));
  CHECK(ring.view().version() == before.version());

  CHECK(try_add(ring, std::string(255, 'x')) == std::error_code{});
}

TEST_CASE("more points than the limit are refused", "[ring][classic]") {
  placement_options options;
  options.vnodes = 65'536;
  hash_ring ring{options};
  std::error_code error;
  std::vector<ring_node> heavy;
  for (int i = 0; i < 11; ++i) {
    heavy.push_back({"n" + std::to_string(i), weight_of(100'000)});
  }
  ring.assign(heavy, error);
  CHECK(error == errc::too_many_points);
  CHECK(ring.size() == 0);
}

TEST_CASE("the throwing twin throws what the other returns", "[ring][classic]") {
  hash_ring ring;
  ring.add({"a"});
  try {
    ring.add({"a"});
    FAIL("no exception");
  } catch (const std::system_error& error) {
    CHECK(error.code() == errc::duplicate_node);
  }
  CHECK_THROWS_AS(ring.remove("b"), std::system_error);
  CHECK_THROWS_AS(ring.set_weight("b", {}), std::system_error);
  CHECK_THROWS_AS(ring.assign({{""}}), std::system_error);
  placement_options bad;
  bad.label = "x";
  CHECK_THROWS_AS(hash_ring{bad}, std::system_error);
}

TEST_CASE("an error code from an earlier call is cleared by a good one", "[ring][classic]") {
  hash_ring ring;
  std::error_code error = errc::busy;
  ring.add({"a"}, error);
  CHECK(!error);
}

TEST_CASE("a change that makes no difference publishes nothing", "[ring][classic]") {
  hash_ring ring;
  CHECK(ring.add({"a"}).version == 1);
  const ring_change same = ring.assign({{"a"}});
  CHECK(!same.changed);
  CHECK(same.version == 1);
  CHECK(same.moved == 0);
  CHECK(same.fingerprint == ring.fingerprint());
  CHECK(!ring.set_weight("a", {}).changed);
  CHECK(ring.reset().changed);
  CHECK(!ring.reset().changed);
  CHECK(ring.view().version() == 2);
}

TEST_CASE("the owner is a node of the ring", "[ring][classic]") {
  const hash_ring ring = ring_of({}, address_nodes(5));
  const auto view = ring.view();
  for (const std::string& key : some_keys(10'000)) {
    const ring_node* owner = view.owner(key);
    REQUIRE(view.find(owner->name) == owner);
    REQUIRE(view.owns(owner->name, key));
  }
}

TEST_CASE("a third node takes about a third, and its removal restores all", "[ring][classic]") {
  hash_ring ring = ring_of({}, {{"A"}, {"B"}});
  const auto two = ring.snapshot();
  const ring_change join = ring.add({"C"});
  CHECK(join.moved_share() > 0.2);
  CHECK(join.moved_share() < 0.47);
  const ring_change leave = ring.remove("C");
  CHECK(leave.moved == join.moved);
  CHECK(same_ring(two, ring.view()));
}

TEST_CASE("a hundred thousand keys on five nodes: each has some", "[ring][classic]") {
  const hash_ring ring = ring_of({}, address_nodes(5));
  const auto view = ring.view();
  std::map<std::string, int> counts;
  for (const std::string& key : some_keys(100'000)) {
    ++counts[view.owner(key)->name];
  }
  REQUIRE(counts.size() == 5);
  for (const auto& [name, count] : counts) {
    CAPTURE(name);
    CHECK(count > 10'000);
    CHECK(count < 34'000);
  }
}

TEST_CASE("a key whose hash is a point belongs to it, and the next place to the next point",
          "[ring][classic]") {
  // A hash that reads the number out of the text puts points where the test wants them.
  placement_options options;
  options.vnodes = 1;
  options.label = "{node}{i}";
  options.hash = [](std::string_view text) {
    return static_cast<std::uint32_t>(std::stoul(std::string{text}));
  };
  options.hash_id = 1;
  // The points are at 100, 2000 and 4294967290.
  const hash_ring ring = ring_of(options, {{"10"}, {"200"}, {"429496729"}});
  CHECK(ring.owner("0") == "10");
  CHECK(ring.owner("100") == "10");
  CHECK(ring.owner("101") == "200");
  CHECK(ring.owner("2000") == "200");
  CHECK(ring.owner("2001") == "429496729");
  CHECK(ring.owner("4294967290") == "429496729");
  CHECK(ring.owner("4294967291") == "10");
  CHECK(ring.owner("4294967295") == "10");
}

TEST_CASE("a view keeps its answers while the ring moves on", "[ring][classic]") {
  hash_ring ring = ring_of({}, {{"a"}});
  const auto old = ring.view();
  const auto kept = old.keep();
  ring.assign({{"b"}});
  CHECK(old.owner("key")->name == "a");
  CHECK(kept.owner("key")->name == "a");
  CHECK(ring.owner("key") == "b");
  CHECK(old.version() + 1 == ring.view().version());
}

TEST_CASE("a snapshot outlives its ring", "[ring][classic]") {
  const auto kept = ring_of({}, {{"a"}, {"b"}}).snapshot();
  CHECK(kept.size() == 2);
  CHECK(kept.owner("key") != nullptr);
  CHECK(kept.placement().kind == placement_kind::classic);
}

TEST_CASE("a thread may hold many views at once, of several rings", "[ring][classic]") {
  hash_ring first = ring_of({}, {{"a"}});
  hash_ring second = ring_of({}, {{"x"}});
  std::vector<lifering::ring_view> views;
  for (int i = 0; i < 50; ++i) {
    views.push_back(first.view());
    views.push_back(second.view());
    first.assign({{"a" + std::to_string(i)}});
  }
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::size_t age = i / 2;
    const std::string first_owner = age == 0 ? "a" : "a" + std::to_string(age - 1);
    CHECK(views[i].owner("key")->name == (i % 2 == 0 ? first_owner : "x"));
  }
}

TEST_CASE("a view may be let go by another thread than took it", "[ring][classic]") {
  hash_ring ring = ring_of({}, {{"a"}});
  std::thread{[view = ring.view()] { CHECK(view.owner("key")->name == "a"); }}.join();
  ring.assign({{"b"}});
  CHECK(ring.owner("key") == "b");
}

TEST_CASE("a view that was moved from holds nothing", "[ring][classic]") {
  hash_ring ring = ring_of({}, {{"a"}});
  auto first = ring.view();
  auto second = std::move(first);
  ring.assign({{"b"}});
  CHECK(second.owner("key")->name == "a");
  second = ring.view();
  CHECK(second.owner("key")->name == "b");
}
