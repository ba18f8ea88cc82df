// Who may remove whom: a lone accuser nobody while others could testify, a deaf or isolated member
// nobody at all; and what two and three members do, who can't be many.
#include <algorithm>

#include "stage.hpp"
#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

constexpr std::size_t nobody = ~std::size_t{0};

/// Failures that were reported about others than `except`, anywhere.
std::size_t failures(const village& v, std::size_t except = nobody) {
  std::size_t sum = 0;
  for (std::size_t who = 0; who < v.size(); ++who) {
    sum += v.count(who, event_kind::failed, "");
    if (except != nobody) sum -= v.count(who, event_kind::failed, v.name(except));
  }
  return sum;
}

}  // namespace

TEST_CASE("a verdict that arrives while the lost come back is asked about before it is believed",
          "[swim]") {
  const bool merging = GENERATE(true, false);
  const bool lives = GENERATE(true, false);
  CAPTURE(merging, lives);
  stage s(20);
  if (merging) {
    s.hear(1, s.failed(8, 1, 3));
    s.hear(1, s.alive(8, 2));
  }
  if (!lives) s.silent.insert(9);
  s.events.clear();
  s.datagrams.clear();
  s.hear(2, s.failed(9, 2, 3));
  if (!merging) {
    CHECK(s.state(9) == member_state::failed);
    return;
  }
  CHECK(s.state(9) == member_state::suspect);
  CHECK(s.mentions(9, update_kind::suspect) >= 1);  // It is told.
  if (lives) s.hear(9, s.alive(9, 2));
  s.run_for(4s);
  CHECK(s.state(9) == (lives ? member_state::alive : member_state::failed));
  CHECK(s.count(event_kind::failed) == (lives ? 0 : 1));
}

TEST_CASE("the verdict of one who is gone from here has its subject asked and probed, no more",
          "[swim]") {
  const bool lives = GENERATE(true, false);
  const bool is_doubted = GENERATE(true, false);
  CAPTURE(lives, is_doubted);
  stage s(20);
  s.hear(1, s.failed(8, 1, 3));
  if (!lives) s.silent.insert(9);
  if (is_doubted) s.hear(1, s.suspect(9, 1));
  s.run_for(100ms);
  s.events.clear();
  s.datagrams.clear();
  // It was cut off with others, and judged there; its first word here is that one.
  s.hear(8, s.failed(9, 8, 3));
  CHECK(s.state(9) == (is_doubted ? member_state::suspect : member_state::alive));
  CHECK(s.mentions(9, update_kind::suspect) >= 1);
  CHECK(s.mentions(9, update_kind::failed) == 0);
  s.run_for(1ms);
  const auto asked = s.with<ping>();
  CHECK(std::ranges::any_of(asked, [&](const auto& each) { return s.actor_at(each.to) == 9; }));
  if (lives) s.hear(9, s.alive(9, 2));
  s.run_for(lives ? 4s : 60s);
  CHECK(s.state(9) == (lives ? member_state::alive : member_state::failed));
}

TEST_CASE("one way cut between two members, out of many, removes neither", "[swim][isolation]") {
  const auto size = GENERATE(std::size_t{4}, std::size_t{10});
  const bool both_ways = GENERATE(false, true);
  village v(size);
  v.form();
  v.cut(0, 1);
  if (both_ways) v.cut(1, 0);
  v.run_for(300s);
  CHECK(failures(v) == 0);
  v.mend();
  REQUIRE(v.run_until([&] { return v.same_view(); }, 10s));
}

TEST_CASE("a member that hears nobody removes nobody and says once that it is isolated",
          "[swim][isolation]") {
  const auto size = GENERATE(std::size_t{3}, std::size_t{4}, std::size_t{10}, std::size_t{25});
  const bool deaf_only = GENERATE(true, false);  // it can still be heard
  village v(size);
  v.form();
  for (std::size_t i = 1; i < size; ++i) {
    v.cut(i, 0);
    if (!deaf_only) v.cut(0, i);
  }
  CAPTURE(size, deaf_only);
  v.run_for(600s);
  CHECK(v.count(0, event_kind::failed, "") == 0);
  CHECK(v.machine(0).present_members() == size);
  CHECK(v.count(0, event_kind::isolated, "m1") == 1);
  for (std::size_t i = 1; i < size; ++i)
    CHECK(v.count(i, event_kind::isolated, "") == 0);
  CHECK(failures(v, 0) == 0);
  v.mend();
  REQUIRE(v.run_until([&] { return v.all_see(size) && v.same_view(); }, 10s));
  v.run_for(30s);
  CHECK(v.count(0, event_kind::failed, "") == 0);
  CHECK(failures(v, 0) == 0);
}

TEST_CASE("the others give up one that is cut off, all of them, once", "[swim][isolation]") {
  const auto size = GENERATE(std::size_t{3}, std::size_t{4}, std::size_t{10});
  village v(size);
  v.form();
  v.cut_off(0);
  CAPTURE(size);
  REQUIRE(v.run_until(
      [&] {
        for (std::size_t i = 1; i < size; ++i) {
          if (v.state(i, "m1") != member_state::failed) return false;
        }
        return true;
      },
      20s));
  v.run_for(60s);
  for (std::size_t i = 1; i < size; ++i)
    CHECK(v.count(i, event_kind::failed, "m1") == 1);
}

TEST_CASE("isolation that ends is told again when it comes again", "[swim][isolation]") {
  config settings;
  settings.timing.hold_down = 0s;
  village v(5, settings);
  v.form();
  for (std::size_t times = 1; times <= 3; ++times) {
    v.cut_off(0);
    v.run_for(120s);
    CHECK(v.count(0, event_kind::isolated, "") == times);
    v.mend();
    REQUIRE(v.run_until([&] { return v.all_see(5) && v.same_view(); }, 20s));
    v.run_for(10s);
  }
}

TEST_CASE("the first word after an isolation condemns nobody who wasn't heard yet",
          "[swim][isolation]") {
  // Suspicions of isolated members are put off for 30 s at a time; each may be due at this moment.
  for (auto offset = 0s; offset < 30s; ++offset) {
    CAPTURE(offset.count());
    stage s(5);
    s.silence();
    REQUIRE(s.run_until([&] { return s.count(event_kind::isolated) == 1; }, 300s));
    s.run_for(10s + offset);
    s.silent.clear();
    s.ping_machine(1, 7);
    s.run_for(10s);  // Time to probe all of them.
    CHECK(s.count(event_kind::failed) == 0);
  }
}

TEST_CASE("who chose to take all when isolated takes all after the longest suspicion",
          "[swim][isolation]") {
  config settings;
  settings.take_all_when_isolated = true;
  village v(5, settings);
  v.form();
  v.cut_off(0);
  CHECK(v.run_until([&] { return v.machine(0).present_members() == 1; }, 60s));
  CHECK(v.count(0, event_kind::failed, "") == 4);
  v.mend();
  REQUIRE(v.run_until([&] { return v.all_see(5) && v.same_view(); }, 20s));
}

TEST_CASE("of two members each gives the other up after its own tries, in double the time",
          "[swim][isolation]") {
  // N = 2: suspicion 2 * 500 ms doubled, and no stretch, since nobody else can confirm.
  village v(2);
  v.form();
  v.vanish(1);
  REQUIRE(v.run_until([&] { return v.state(0, "m2") == member_state::suspect; }, 2s));
  const auto suspected = v.last(0, event_kind::suspected);
  v.run_to(suspected + 1999ms);
  CHECK(v.state(0, "m2") == member_state::suspect);
  v.run_to(suspected + 2s);
  CHECK(v.state(0, "m2") == member_state::failed);
  CHECK(v.count(0, event_kind::isolated, "") == 0);
}

TEST_CASE("of two cut apart both serve alone, and come together again", "[swim][isolation]") {
  village v(2);
  v.form();
  v.cut_off(0);
  v.run_for(120s);
  CHECK(v.machine(0).present_members() == 1);
  CHECK(v.machine(1).present_members() == 1);
  v.mend();
  REQUIRE(v.run_until([&] { return v.all_see(2) && v.same_view(); }, 60s));
}

TEST_CASE("of three the two that hear each other remove the third, on both words",
          "[swim][isolation]") {
  village v(3);
  v.form();
  v.vanish(2);
  REQUIRE(v.run_until([&] { return v.everywhere("m3", member_state::failed); }, 6s));
  CHECK(v.count(0, event_kind::isolated, "") == 0);
  CHECK(v.count(1, event_kind::isolated, "") == 0);
  CHECK(failures(v, 2) == 0);
}

TEST_CASE("of three one whom only one of two can't reach stays", "[swim][isolation]") {
  village v(3);
  v.form();
  v.cut(0, 2);
  v.cut(2, 0);
  v.run_for(300s);
  CHECK(failures(v) == 0);
}

TEST_CASE("fewer witnesses than are asked for wait for the longest suspicion",
          "[swim][isolation]") {
  // Ten members with Lifeguard's parameters: 5 s to 30 s. Nine could testify, three are asked for;
  // for two, Lifeguard alone would take 17.5 s. The last witness is the machine itself.
  const auto [others, before, after] =
      GENERATE(table<std::size_t, std::chrono::milliseconds, std::chrono::milliseconds>(
          {{0, 29'999ms, 30'000ms}, {1, 29'999ms, 30'000ms}, {2, 10'187ms, 10'189ms}}));
  stage s(9);
  s.silent.insert(9);
  for (std::size_t by = 1; by <= others; ++by)
    s.hear(by, s.suspect(9, by));
  while (s.state(9) != member_state::suspect)
    s.run_for(1ms);
  const auto start = s.now();
  s.run_to(start + before);
  CHECK(s.machine.stats().suspicions_raised >= 1);
  CHECK(s.state(9) == member_state::suspect);
  s.run_to(start + after);
  CHECK(s.state(9) == member_state::failed);
}

TEST_CASE("what too few have seen is looked at once more, two intervals before it counts",
          "[swim][isolation]") {
  // 200 members, so that the suspect's own turn doesn't come meanwhile: 11.505 s to 69.03 s.
  stage s(199);
  s.silent.insert(9);
  REQUIRE(s.run_until([&] { return s.state(9) == member_state::suspect; }, 400s));
  const auto start = s.now();
  const auto pings = [&] {
    const auto all = s.with<ping>();
    return std::count_if(all.begin(), all.end(),
                         [&](const auto& one) { return one.to == s.part(9)->address; });
  };
  s.silent.clear();
  s.run_to(start + 1s);  // The tries of the probe that failed.
  s.datagrams.clear();
  s.run_to(start + 67'029ms);
  CHECK(pings() == 0);
  s.run_to(start + 67'031ms);
  CHECK(pings() == 1);
  s.run_to(start + 75s);
  CHECK(s.state(9) == member_state::suspect);  // It answered; only its contradiction is missing.
  CHECK(s.count(event_kind::failed) == 0);
}

TEST_CASE("two hosts with one address take nobody else along, and settle", "[swim][isolation]") {
  // Packets for the address reach the one or the other, as neighbours' tables have it; each hears
  // what was meant for the other, and both send.
  const auto turn = GENERATE(base::duration(2s), base::duration(20s), base::duration(1h));
  CAPTURE(turn.count());
  village v(10);
  v.form();
  const endpoint shared = v.at(9).address;
  const std::size_t twin = v.add("twin", shared.to_string());
  const base::time_point begin = v.now();
  v.holder = [&](const endpoint& address) {
    if (address != shared) return nobody;
    return (v.now() - begin) / turn % 2 == 0 ? twin : std::size_t{9};
  };
  v.join(twin, 0);
  v.run_for(5min);
  for (std::size_t who = 0; who < 9; ++who) {
    CAPTURE(who);
    for (std::size_t other = 0; other < 9; ++other)
      CHECK(v.count(who, event_kind::failed, v.name(other)) == 0);
    // Held down for a growing time, though the address changes hands up to 150 times.
    CHECK(v.count(who, event_kind::failed, v.name(9)) <= 5);
    CHECK(v.count(who, event_kind::failed, "twin") <= 5);
  }
  // One of them goes, and the other has the address to itself, once it is no longer held down.
  v.crash(9);
  v.holder = [&](const endpoint& address) { return address == shared ? twin : nobody; };
  CHECK(v.run_until([&] { return v.everywhere("twin", member_state::alive); }, 20min));
}
