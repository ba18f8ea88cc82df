// Every invariant is shown a bad history and must fire, and a good one and must not.
#include "sim/checkers.hpp"

#include <optional>
#include <string_view>

#include "sim/disagreement.hpp"
#include "sim/record_pool.hpp"
#include "sim/simulation.hpp"
#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::sim;
using namespace std::chrono_literals;
using swim::evidence;

namespace {

constexpr auto alive = member_state::alive;
constexpr auto suspect = member_state::suspect;
constexpr auto failed = member_state::failed;
constexpr auto left = member_state::left;

std::string_view record_rule(evidence before, evidence now) {
  return broken_record(before, now);
}

}  // namespace

TEST_CASE("a recorded incarnation that falls is found", "[sim][checkers]") {
  CHECK(record_rule({1, 5, alive}, {1, 4, alive}) == "the recorded incarnation fell");
  CHECK(record_rule({1, 5, failed}, {1, 4, failed}) == "the recorded incarnation fell");
  CHECK(record_rule({1, 5, alive}, {1, 5, alive}).empty());
  CHECK(record_rule({1, 5, alive}, {1, 6, alive}).empty());
  CHECK(record_rule({1, 5, alive}, {2, 1, alive}).empty());  // A new life counts from 1.
}

TEST_CASE("a recorded epoch that falls is found", "[sim][checkers]") {
  CHECK(record_rule({2, 1, alive}, {1, 9, alive}) == "the recorded epoch fell");
  CHECK(record_rule({2, 1, left}, {1, 9, alive}) == "the recorded epoch fell");
}

TEST_CASE("a revival without newer evidence is found", "[sim][checkers]") {
  CHECK_FALSE(record_rule({1, 5, failed}, {1, 5, alive}).empty());
  CHECK_FALSE(record_rule({1, 5, failed}, {1, 5, suspect}).empty());
  CHECK(record_rule({1, 5, failed}, {1, 6, alive}).empty());
  CHECK(record_rule({1, 5, failed}, {2, 1, alive}).empty());
  CHECK_FALSE(record_rule({1, 5, suspect}, {1, 5, alive}).empty());
  CHECK(record_rule({1, 5, suspect}, {1, 6, alive}).empty());
}

TEST_CASE("a life that left stays left", "[sim][checkers]") {
  CHECK_FALSE(record_rule({1, 5, left}, {1, 6, alive}).empty());
  CHECK_FALSE(record_rule({1, 5, left}, {1, 6, failed}).empty());
  CHECK(record_rule({1, 5, left}, {2, 1, alive}).empty());
  CHECK(record_rule({1, 5, failed}, {1, 5, left}).empty());
}

TEST_CASE("a present member that is forgotten is found, a grave may go", "[sim][checkers]") {
  CHECK_FALSE(broken_record(evidence{1, 5, alive}, std::nullopt).empty());
  CHECK_FALSE(broken_record(evidence{1, 5, suspect}, std::nullopt).empty());
  CHECK(broken_record(evidence{1, 5, failed}, std::nullopt).empty());
  CHECK(broken_record(evidence{1, 5, left}, std::nullopt).empty());
  CHECK(broken_record(std::nullopt, evidence{1, 5, failed}).empty());
}

TEST_CASE("a running member that lists itself dead is found", "[sim][checkers]") {
  CHECK_FALSE(broken_self(evidence{1, 1, failed}, false).empty());
  CHECK_FALSE(broken_self(evidence{1, 1, left}, false).empty());
  CHECK_FALSE(broken_self(std::nullopt, false).empty());
  CHECK(broken_self(evidence{1, 1, alive}, false).empty());
  CHECK(broken_self(evidence{1, 1, failed}, false, true).empty());
  CHECK_FALSE(broken_self(evidence{1, 1, alive}, false, true).empty());
  CHECK(broken_self(evidence{1, 1, left}, true).empty());
}

TEST_CASE("tables and queues beyond their limits are found", "[sim][checkers]") {
  swim::config limits;
  limits.limits.members = 10;
  limits.limits.graves = 16;
  limits.local_health_max = 8;
  CHECK(broken_limit({10, 16, 27, 10, 8}, limits).empty());
  CHECK_FALSE(broken_limit({11, 0, 0, 0, 0}, limits).empty());
  CHECK_FALSE(broken_limit({10, 17, 0, 0, 0}, limits).empty());
  CHECK_FALSE(broken_limit({10, 16, 28, 0, 0}, limits).empty());
  CHECK_FALSE(broken_limit({10, 16, 0, 11, 0}, limits).empty());
  CHECK_FALSE(broken_limit({10, 16, 0, 0, 9}, limits).empty());
}

TEST_CASE("a ring that isn't the function of the members is found", "[sim][checkers]") {
  CHECK(broken_view({1, 2, 3}, {1, 2, 3}).empty());
  CHECK_FALSE(broken_view({1, 2, 3}, {1, 9, 3}).empty());
  CHECK_FALSE(broken_view({1, 2, 3}, {9, 2, 3}).empty());
  CHECK_FALSE(broken_view({1, 2, 3}, {1, 2, 4}).empty());
}

TEST_CASE("events of a member that don't alternate are found", "[sim][checkers]") {
  using k = event_kind;
  CHECK(misplaced_event(k::joined, std::nullopt, alive).empty());
  CHECK(misplaced_event(k::joined, failed, alive).empty());
  CHECK(misplaced_event(k::joined, left, alive).empty());
  CHECK_FALSE(misplaced_event(k::joined, alive, alive).empty());
  CHECK_FALSE(misplaced_event(k::joined, suspect, alive).empty());
  CHECK_FALSE(misplaced_event(k::joined, std::nullopt, failed).empty());
  CHECK(misplaced_event(k::updated, suspect, alive).empty());
  CHECK_FALSE(misplaced_event(k::updated, failed, alive).empty());
  CHECK_FALSE(misplaced_event(k::updated, std::nullopt, alive).empty());
  CHECK(misplaced_event(k::suspected, alive, suspect).empty());
  CHECK_FALSE(misplaced_event(k::suspected, suspect, suspect).empty());
  CHECK_FALSE(misplaced_event(k::suspected, failed, suspect).empty());
  CHECK(misplaced_event(k::recovered, suspect, alive).empty());
  CHECK_FALSE(misplaced_event(k::recovered, alive, alive).empty());
  CHECK(misplaced_event(k::failed, alive, failed).empty());
  CHECK_FALSE(misplaced_event(k::failed, failed, failed).empty());
  CHECK_FALSE(misplaced_event(k::failed, std::nullopt, failed).empty());
  CHECK(misplaced_event(k::left, suspect, left).empty());
  CHECK_FALSE(misplaced_event(k::left, left, left).empty());
}

TEST_CASE("a left member reported failed is found", "[sim][checkers]") {
  CHECK(misplaced_event(event_kind::failed, left, failed) == "failed, though it had left");
}

TEST_CASE("two values of one incarnation are found", "[sim][checkers]") {
  int conflicts = 0;
  record_pool pool([&](const swim::record&, const swim::record&) { ++conflicts; });
  swim::record one;
  one.name = "node-1";
  one.epoch = 1;
  one.incarnation = 1;
  one.metadata = "a";
  pool.intern(std::make_shared<const swim::record>(one));
  pool.intern(std::make_shared<const swim::record>(one));
  CHECK(conflicts == 0);
  CHECK(pool.size() == 1);
  one.metadata = "b";
  pool.intern(std::make_shared<const swim::record>(one));
  CHECK(conflicts == 1);
  one.incarnation = 2;
  pool.intern(std::make_shared<const swim::record>(one));
  CHECK(conflicts == 1);
}

TEST_CASE("views are equal by content, not by incarnation", "[sim]") {
  record_pool pool([](const swim::record&, const swim::record&) {});
  swim::record one;
  one.name = "node-1";
  one.epoch = 1;
  const auto first = pool.intern(std::make_shared<const swim::record>(one));
  one.incarnation = 7;
  const auto later = pool.intern(std::make_shared<const swim::record>(one));
  CHECK(first.content == later.content);
  one.weight = *weight::from_thousandths(500);
  one.incarnation = 8;
  const auto heavier = pool.intern(std::make_shared<const swim::record>(one));
  CHECK(heavier.content != later.content);
  CHECK(heavier.share != later.share);
  one.phase = member_phase::draining;
  one.weight = {};
  one.incarnation = 9;
  CHECK(pool.intern(std::make_shared<const swim::record>(one)).share != first.share);
}

TEST_CASE("the bound on agreement fires for a cluster that can't agree", "[sim][checkers]") {
  // Nobody's seed ever runs, and nothing but a seed would bring the two together.
  const auto lonely = parse_scenario("nodes 3\nseeds 1\nabsent 1\nuntil 200s\n", "lonely");
  const auto found = simulation(lonely, 1).run();
  REQUIRE(found.violation_count == 1);
  CHECK(found.violations[0].what.starts_with("no agreement within the bound"));
  CHECK_FALSE(found.passed());
}
