// Partitions, however long, that heal by themselves; and what is remembered of those who are gone.
#include <lifering/error.hpp>

#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

/// Cuts the village into `parts` of equal size.
void divide(village& v, std::size_t parts) {
  for (std::size_t a = 0; a < v.size(); ++a) {
    for (std::size_t b = 0; b < v.size(); ++b) {
      if (a % parts != b % parts) v.cut(a, b);
    }
  }
}

std::size_t failures_within(village& v, std::size_t parts) {
  std::size_t sum = 0;
  for (std::size_t a = 0; a < v.size(); ++a) {
    for (std::size_t b = a % parts; b < v.size(); b += parts)
      sum += v.count(a, event_kind::failed, v.name(b));
  }
  return sum;
}

void forget_events(village& v) {
  for (std::size_t i = 0; i < v.size(); ++i)
    v.at(i).events.clear();
}

}  // namespace

TEST_CASE("parts that were apart for ten minutes agree ten seconds after the cut ends",
          "[swim][partition]") {
  const auto [members, cuts] = GENERATE(
      table<std::size_t, std::size_t>({{2, 2}, {4, 2}, {6, 2}, {20, 2}, {21, 3}, {40, 4}}));
  const std::size_t size = members;  // a lambda may not capture what a binding names
  const std::size_t parts = cuts;
  village v(size);
  v.form();
  forget_events(v);
  divide(v, parts);
  v.run_for(600s);
  CAPTURE(size, parts);
  CHECK(failures_within(v, parts) == 0);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t ours = size / parts + (i % parts < size % parts ? 1 : 0);
    CHECK(v.machine(i).present_members() == ours);
    CHECK(v.count(i, event_kind::failed, "") == size - ours);
    CHECK(v.count(i, event_kind::isolated, "") == 0);
  }
  forget_events(v);
  v.mend();
  REQUIRE(v.run_until([&] { return v.all_see(size) && v.same_view(); }, 10s));
  v.run_for(60s);
  CHECK(v.all_see(size));
  CHECK(v.same_view());
  for (std::size_t i = 0; i < size; ++i) {
    CHECK(v.count(i, event_kind::failed, "") == 0);
    const std::size_t ours = size / parts + (i % parts < size % parts ? 1 : 0);
    CHECK(v.count(i, event_kind::joined, "") == size - ours);
  }
}

TEST_CASE("who dies during a partition isn't revived by the merge", "[swim][partition]") {
  village v(10);
  v.form();
  divide(v, 2);
  v.run_for(60s);
  v.vanish(9);
  v.run_for(60s);
  forget_events(v);
  v.mend();
  REQUIRE(v.run_until([&] { return v.all_see(9) && v.same_view(); }, 10s));
  v.run_for(60s);
  CHECK(v.everywhere("m10", member_state::failed));
  for (std::size_t i = 0; i < 9; ++i)
    CHECK(v.count(i, event_kind::joined, "m10") == 0);
}

TEST_CASE("who leaves or moves during a partition has done so everywhere after it",
          "[swim][partition]") {
  village v(10);
  v.form();
  divide(v, 2);
  v.run_for(60s);
  v.leave(9);
  v.run_for(6s);
  v.crash(9);
  v.crash(7);
  v.run_for(1s);
  v.restart(7, "10.0.77.7:7946");
  v.join(7, 1);
  v.run_for(60s);
  v.mend();
  REQUIRE(v.run_until([&] { return v.all_see(9) && v.same_view(); }, 10s));
  // Views agree on who is present. Who missed the news of a leave asks when it next looks for whom
  // it takes for lost.
  CHECK(v.run_until([&] { return v.everywhere("m10", member_state::left); }, 60s));
  view_row row;
  REQUIRE(v.machine(0).find_member("m8", row));
  CHECK(row.subject->address == v.at(7).address);
}

TEST_CASE("members that start before their seed find it when it comes", "[swim][partition]") {
  village v(3);
  v.crash(0);
  v.join(1, 0);
  v.join(2, 0);
  v.run_for(60s);
  CHECK(v.at(1).done.front().error);
  CHECK(v.machine(1).present_members() == 1);
  v.restart(0);
  REQUIRE(v.run_until([&] { return v.all_see(3) && v.same_view(); }, 60s));
}

TEST_CASE("a failed member that the application forgets is left everywhere and not looked for",
          "[swim][forget]") {
  village v(6);
  v.form();
  v.vanish(5);
  REQUIRE(v.run_until([&] { return v.everywhere("m6", member_state::failed); }, 15s));
  v.at(2).done.clear();
  v.command(2, forget_command{command_id{700}, "m6"});
  REQUIRE(v.at(2).done.size() == 1);
  CHECK_FALSE(v.at(2).done.front().error);
  REQUIRE(v.run_until([&] { return v.everywhere("m6", member_state::left); }, 2s));
  v.run_for(2s);  // what helpers do for others' probes ends
  std::size_t sent = 0;
  v.filter = [&](std::size_t, std::size_t to, const packet&) {
    sent += to == 5;
    return true;
  };
  v.run_for(600s);
  CHECK(sent == 0);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(v.count(i, event_kind::failed, "m6") == 1);
    CHECK(v.count(i, event_kind::left, "m6") == 0);  // it was gone already
  }
}

TEST_CASE("only failed members can be forgotten", "[swim][forget]") {
  village v(3);
  v.form();
  v.leave(2);
  v.run_for(1s);
  v.at(0).done.clear();
  for (const char* name : {"", "nobody", "m1", "m2", "m3"})
    v.command(0, forget_command{command_id{700}, name});
  REQUIRE(v.at(0).done.size() == 5);
  for (const auto& done : v.at(0).done)
    CHECK(done.error == errc::unknown_member);
  CHECK(v.state(0, "m2") == member_state::alive);
}

TEST_CASE("who was forgotten and lives comes back as a new life", "[swim][forget]") {
  village v(5);
  v.form();
  v.cut_off(4);
  REQUIRE(v.run_until([&] { return v.state(0, "m5") == member_state::failed; }, 15s));
  v.run_for(5s);
  v.command(0, forget_command{command_id{700}, "m5"});
  v.run_for(5s);
  const auto before = v.machine(4).self()->epoch;
  v.mend();
  REQUIRE(v.run_until([&] { return v.all_see(5) && v.same_view(); }, 30s));
  CHECK(v.machine(4).self()->epoch > before);
}

TEST_CASE("graves end after their time, not before", "[swim][forget]") {
  config settings;
  settings.timing.grave_time = 20s;
  village v(4, settings);
  v.form();
  v.leave(3);
  const auto left = v.now();
  v.run_for(1s);
  v.crash(3);
  v.run_to(left + 19900ms);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(v.machine(i).graves() == 1);
  v.run_to(left + 22s);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(v.machine(i).graves() == 0);
}

TEST_CASE("graves beyond their limit go, the oldest first", "[swim][forget]") {
  config settings;
  settings.limits.graves = 3;
  village v(10, settings);
  v.form();
  for (std::size_t i = 9; i > 4; --i) {
    v.leave(i);
    v.run_for(1s);
    v.crash(i);
    v.run_for(1s);
  }
  CHECK(v.machine(0).graves() == 3);
  CHECK(v.machine(0).stats().graves_evicted == 2);
  view_row row;
  CHECK_FALSE(v.machine(0).find_member("m10", row));
  CHECK_FALSE(v.machine(0).find_member("m9", row));
  CHECK(v.machine(0).find_member("m8", row));
}

TEST_CASE("a grave that turns from failed to left still ends", "[swim][forget]") {
  config settings;
  settings.timing.grave_time = 20s;
  village v(4, settings);
  v.form();
  v.vanish(3);
  REQUIRE(v.run_until([&] { return v.everywhere("m4", member_state::failed); }, 15s));
  v.run_for(5s);
  const auto forgotten = v.now();
  v.command(0, forget_command{command_id{700}, "m4"});
  v.run_to(forgotten + 19s);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(v.machine(i).graves() == 1);
  v.run_to(forgotten + 25s);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(v.machine(i).graves() == 0);
}
