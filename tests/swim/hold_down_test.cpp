// Members that flap are held down: all hold them as failed for a growing, bounded time, and all
// alike, since it is the member itself that obeys the count in the verdict.
#include "swim/hold_down.hpp"

#include <algorithm>

#include "stage.hpp"
#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

update verdict(const stage& s, std::uint32_t failures, std::uint64_t incarnation) {
  update news = s.failed(0, 1, 3, incarnation);
  news.epoch = s.machine.self()->epoch;
  news.failures = failures;
  return news;
}

/// Deaf for so long that it is failed, then well again.
void fail_once(village& v, std::size_t who) {
  for (std::size_t i = 0; i < v.size(); ++i)
    if (i != who) v.cut(i, who);
  v.run_for(15s);
  v.mend();
  v.run_for(5s);
}

}  // namespace

TEST_CASE("the first failure holds nobody down, each further one for twice as long up to a bound",
          "[swim][hold]") {
  CHECK(hold_time(0, 60s) == 0s);
  CHECK(hold_time(1, 60s) == 0s);
  CHECK(hold_time(2, 60s) == 60s);
  CHECK(hold_time(3, 60s) == 120s);
  CHECK(hold_time(6, 60s) == 960s);
  CHECK(hold_time(7, 60s) == 960s);
  CHECK(hold_time(~0u, 60s) == 960s);
  CHECK(failure_memory(1, 60s) == 300s);
  CHECK(failure_memory(2, 60s) == 360s);
}

TEST_CASE("failures of a quarter of a cluster and more count for nobody", "[swim][hold]") {
  CHECK(is_single_failure(1, 4));
  CHECK_FALSE(is_single_failure(1, 3));
  CHECK_FALSE(is_single_failure(1, 1));
  CHECK(is_single_failure(24, 76));
  CHECK_FALSE(is_single_failure(25, 75));
  CHECK_FALSE(is_single_failure(50, 50));
}

TEST_CASE("told of a first failure we contradict, told of a second we stay away for the time",
          "[swim][hold]") {
  stage s(5);
  s.run_for(3s);
  s.hear(1, verdict(s, 1, 1));
  CHECK(s.machine.self()->incarnation == 2);
  CHECK_FALSE(s.machine.held_down());
  s.hear(1, verdict(s, 2, 2));
  CHECK(s.machine.held_down());
  CHECK(s.machine.self()->incarnation == 2);
  CHECK(s.count(event_kind::failed, "m0") == 1);
  CHECK(s.state(0) == member_state::failed);
  const auto start = s.now();
  s.run_to(start + 60s - 1ms);
  CHECK(s.machine.held_down());
  CHECK(s.count(event_kind::joined, "m0") == 0);
  s.run_to(start + 60s);
  CHECK_FALSE(s.machine.held_down());
  CHECK(s.count(event_kind::joined, "m0") == 1);
  CHECK(s.machine.self()->incarnation == 3);
  CHECK(s.state(0) == member_state::alive);
}

TEST_CASE("a verdict that was contradicted already holds nobody down", "[swim][hold]") {
  stage s(5);
  s.hear(1, s.suspect(0, 1));
  s.hear(1, verdict(s, 1, 1));
  REQUIRE(s.machine.self()->incarnation >= 2);
  s.hear(1, verdict(s, 5, 1));
  CHECK_FALSE(s.machine.held_down());
}

TEST_CASE("held down, we tell who still counts on us that we are away", "[swim][hold]") {
  stage s(5);
  s.run_for(3s);
  s.hear(1, verdict(s, 2, 1));
  REQUIRE(s.machine.held_down());
  s.datagrams.clear();
  update doubt = s.suspect(0, 2);
  doubt.epoch = s.machine.self()->epoch;
  s.hear(2, doubt);
  REQUIRE(s.datagrams.size() == 1);
  CHECK(s.actor_at(s.datagrams.front().to) == 2);
  CHECK(stage::mentions(s.datagrams.front().content, "m0", update_kind::failed) == 1);
  CHECK(s.machine.self()->incarnation == 1);
}

TEST_CASE("a change of our own while held down is told at the end, not before", "[swim][hold]") {
  stage s(5);
  s.run_for(3s);
  s.hear(1, verdict(s, 2, 1));
  s.datagrams.clear();
  update_command change{};
  change.metadata = "new";
  s.give(change);
  s.run_for(30s);
  CHECK(s.machine.held_down());
  CHECK(s.mentions(0, update_kind::alive) == 0);
  s.run_for(31s);
  CHECK(s.machine.self()->metadata == "new");
  CHECK(s.mentions(0, update_kind::alive) > 0);
}

TEST_CASE("with hold_down 0 a verdict is contradicted however often it came", "[swim][hold]") {
  config settings = papers();
  settings.timing.hold_down = 0s;
  stage s(5, settings);
  s.hear(1, verdict(s, 9, 1));
  CHECK_FALSE(s.machine.held_down());
  CHECK(s.machine.self()->incarnation == 2);
}

TEST_CASE("a member's own word that it is away is believed of itself, not from others",
          "[swim][hold]") {
  stage s(5);
  update away = s.failed(3, 3, 3);
  s.hear(1, away);
  CHECK(s.state(3) == member_state::alive);
  CHECK(s.machine.stats().dropped_bad_accuser == 1);
  s.hear(3, away);
  CHECK(s.state(3) == member_state::failed);
}

TEST_CASE("a member that failed twice stays out of all views alike, then comes back to all",
          "[swim][hold]") {
  village v(8);
  v.form();
  fail_once(v, 3);
  REQUIRE(v.all_see(8));
  CHECK(v.machine(3).stats().hold_downs == 0);
  fail_once(v, 3);
  CHECK(v.machine(3).held_down());
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(v.state(i, "m4") == member_state::failed);
    CHECK(v.machine(i).present_members() == 7);
    CHECK(v.machine(i).view_digest() == v.machine(0).view_digest());
  }
  v.run_for(40s);
  CHECK(v.machine(3).held_down());
  REQUIRE(v.run_until([&] { return v.all_see(8) && v.same_view(); }, 25s));
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == 3) continue;
    CHECK(v.count(i, event_kind::failed, "m4") == 2);
    CHECK(v.count(i, event_kind::failed, "") == 2);
  }
}

TEST_CASE("a relapse while held down starts the time anew, and doubles it", "[swim][hold]") {
  village v(8);
  v.form();
  fail_once(v, 3);
  fail_once(v, 3);
  REQUIRE(v.machine(3).held_down());
  v.run_for(30s);
  fail_once(v, 3);  // nobody sees it fail, as it is away
  v.run_for(80s);
  CHECK(v.machine(3).held_down());
  REQUIRE(v.run_until([&] { return v.all_see(8); }, 60s));
}

TEST_CASE("restarts are no flapping: a life starts without a past", "[swim][hold]") {
  village v(8);
  v.form();
  for (int i = 0; i < 4; ++i) {
    v.crash(3);
    v.run_for(8s);
    v.restart(3);
    v.join(3, 0);
    REQUIRE(v.run_until([&] { return v.all_see(8) && v.same_view(); }, 3s));
    CHECK_FALSE(v.machine(3).held_down());
  }
}

TEST_CASE("a process that is stopped again and again is held down as well", "[swim][hold]") {
  village v(8);
  v.form();
  for (int i = 0; i < 2; ++i) {
    v.freeze(3);
    v.run_for(15s);
    v.thaw(3);
    v.run_for(5s);
  }
  CHECK(v.machine(3).held_down());
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(v.state(i, "m4") == member_state::failed);
  REQUIRE(v.run_until([&] { return v.all_see(8) && v.same_view(); }, 65s));
}

TEST_CASE("a cut through the middle, again and again, holds nobody down", "[swim][hold]") {
  village v(8);
  v.form();
  for (int round = 0; round < 3; ++round) {
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 4; b < 8; ++b) {
        v.cut(a, b);
        v.cut(b, a);
      }
    }
    v.run_for(30s);
    v.mend();
    REQUIRE(v.run_until([&] { return v.all_see(8) && v.same_view(); }, 20s));
  }
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(v.machine(i).stats().hold_downs == 0);
}
