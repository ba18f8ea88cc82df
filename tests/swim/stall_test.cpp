// A process that stood still (SIGSTOP, a long pause, a suspended machine) blames nobody when it
// wakes, contradicts what was said of it, and comes back by itself.
#include <algorithm>

#include "stage.hpp"
#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

TEST_CASE("a member frozen for 20 s is failed meanwhile, and comes back by itself",
          "[swim][stall]") {
  const auto size = GENERATE(std::size_t{2}, std::size_t{3}, std::size_t{5}, std::size_t{20});
  village v(size);
  v.form();
  v.freeze(0);
  v.run_for(20s);
  CAPTURE(size);
  for (std::size_t i = 1; i < size; ++i)
    REQUIRE(v.state(i, "m1") == member_state::failed);
  v.thaw(0);
  CHECK(v.machine(0).stats().stalls == 1);
  REQUIRE(v.run_until([&] { return v.all_see(size) && v.same_view(); }, 2s));
  v.run_for(60s);
  for (std::size_t i = 1; i < size; ++i) {
    CHECK(v.count(i, event_kind::failed, "m1") == 1);
    CHECK(v.count(i, event_kind::failed, "") == 1);
    CHECK(v.count(i, event_kind::joined, "m1") == 2);  // when the village formed, and now
    CHECK(v.count(i, event_kind::suspected, "") == 1);
  }
  CHECK(v.count(0, event_kind::suspected, "") == 0);
  CHECK(v.count(0, event_kind::failed, "") == 0);
}

TEST_CASE("a pause shorter than the shortest suspicion costs nobody anything", "[swim][stall]") {
  village v(10);
  v.form();
  v.freeze(3);
  v.run_for(800ms);
  v.thaw(3);
  v.run_for(30s);
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(v.count(i, event_kind::failed, "") == 0);
  REQUIRE(v.same_view());
}

TEST_CASE("half of a cluster frozen and thawed together blames nobody of the other half",
          "[swim][stall]") {
  village v(12);
  v.form();
  for (std::size_t i = 0; i < 6; ++i)
    v.freeze(i);
  v.run_for(15s);
  for (std::size_t i = 0; i < 6; ++i)
    v.thaw(i);
  REQUIRE(v.run_until([&] { return v.all_see(12) && v.same_view(); }, 10s));
  v.run_for(30s);
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t healthy = 6; healthy < 12; ++healthy)
      CHECK(v.count(i, event_kind::failed, v.name(healthy)) == 0);
  }
}

TEST_CASE("all frozen together, as on a laptop that slept, blame nobody", "[swim][stall]") {
  village v(6);
  v.form();
  for (std::size_t i = 0; i < 6; ++i)
    v.freeze(i);
  v.run_for(3600s);
  for (std::size_t i = 0; i < 6; ++i)
    v.thaw(i);
  v.run_for(30s);
  REQUIRE(v.all_see(6));
  REQUIRE(v.same_view());
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(v.count(i, event_kind::failed, "") == 0);
    CHECK(v.count(i, event_kind::suspected, "") == 0);
  }
}

TEST_CASE("lateness of two probe intervals is a stall, less is not", "[swim][stall]") {
  const bool stalled = GENERATE(false, true);
  stage s(5);
  s.next_ping();
  const auto due = s.machine.next_deadline();
  s.skip_to(due + 2s - (stalled ? 0ns : 1ns));
  s.run_for(0s);
  CHECK(s.machine.stats().stalls == (stalled ? 1 : 0));
}

TEST_CASE(
    "who may have been given up when it stood still contradicts that unasked, others if they are "
    "doubted",
    "[swim][stall]") {
  const bool given_up = GENERATE(false, true);
  stage s(5);  // Six members: failed after 5 s at the soonest.
  s.next_ping();
  s.skip_to(s.machine.next_deadline() + 5s - (given_up ? 0ns : 1ns));
  s.run_for(0s);
  REQUIRE(s.machine.stats().stalls == 1);
  CHECK(s.machine.self()->incarnation == (given_up ? 2 : 1));
  s.hear(1, s.suspect(0, 1));
  CHECK(s.machine.self()->incarnation == 2);
}

TEST_CASE("who woke contradicts first, and accuses nobody for an interval", "[swim][stall]") {
  stage s(5);
  s.run_for(3s);
  s.silence();
  s.next_ping();
  s.run_for(700ms);  // helpers were asked, and will seem to have stayed silent as well
  s.skip_to(s.now() + 60s);
  s.datagrams.clear();
  s.run_for(20ms);
  CHECK(s.machine.local_health() == 0);
  CHECK(s.machine.stats().stalls == 1);
  CHECK(s.mentions(0, update_kind::alive) >= 1);  // with a higher incarnation
  CHECK(s.machine.self()->incarnation == 2);
  const auto woke = s.now();
  for (std::size_t actor = 1; actor <= 5; ++actor)  // their hosts refuse, even
    s.give(peer_refused{s.part(actor)->address});
  s.run_to(woke + 979ms);
  CHECK(s.count(event_kind::suspected) == 0);
  CHECK(s.run_until([&] { return s.count(event_kind::suspected) > 0; }, 5s));
}

TEST_CASE("a suspicion that ran when we stood still goes on for as long as we stood, and longer",
          "[swim][stall]") {
  // Six members: 5 s to 30 s; confirmed by three: 5 s.
  stage s(5);
  const auto start = s.now();
  s.silent.insert(5);
  for (std::size_t by = 1; by <= 4; ++by)
    s.hear(by, s.suspect(5, by));
  s.run_to(start + 1s);
  const auto late = s.machine.next_deadline();
  s.skip_to(start + 61s);
  s.run_for(0s);
  REQUIRE(s.machine.stats().stalls == 1);
  const auto length = start + 61s - late;
  s.run_to(start + 5s + length + 5s - 1ms);
  CHECK(s.state(5) == member_state::suspect);
  s.run_to(start + 5s + length + 5s);
  CHECK(s.state(5) == member_state::failed);
}

TEST_CASE("a refusal while nobody is judged starts no storm of pings", "[swim][stall]") {
  stage s(5);
  s.run_for(3s);
  s.skip_to(s.now() + 60s);
  s.run_for(1ms);
  REQUIRE(s.machine.stats().stalls == 1);
  s.silent.insert(3);
  s.datagrams.clear();
  s.give(peer_refused{s.part(3)->address});
  std::size_t refused = 0;  // its host refuses whatever it is sent
  for (int ms = 0; ms < 900; ++ms) {
    const auto sent = static_cast<std::size_t>(
        std::count_if(s.datagrams.begin(), s.datagrams.end(),
                      [&](const auto& d) { return s.actor_at(d.to) == 3; }));
    for (; refused < sent; ++refused)
      s.give(peer_refused{s.part(3)->address});
    s.run_for(1ms);
  }
  CHECK(refused < 20);
}

TEST_CASE("what fell due while we were late waits until what was said meanwhile is read",
          "[swim][stall]") {
  // Six members: suspicions of 5 s, confirmed by three.
  stage s(5);
  const auto start = s.now();
  s.silent.insert(5);
  for (std::size_t by = 1; by <= 4; ++by)
    s.hear(by, s.suspect(5, by));
  s.run_to(start + 4900ms);
  REQUIRE(s.state(5) == member_state::suspect);
  s.skip_to(start + 5800ms);  // less than a stall
  s.run_for(0s);
  CHECK(s.machine.stats().stalls == 0);
  CHECK(s.machine.stats().late_wakes == 1);
  CHECK(s.state(5) == member_state::suspect);
  s.hear(5, s.alive(5, 2));  // it lay in the buffer
  s.run_for(10s);
  CHECK(s.count(event_kind::failed) == 0);
}

TEST_CASE("a verdict that we were late for comes as much later", "[swim][stall]") {
  stage s(5);
  const auto start = s.now();
  s.silent.insert(5);
  for (std::size_t by = 1; by <= 4; ++by)
    s.hear(by, s.suspect(5, by));
  s.run_to(start + 4900ms);
  s.skip_to(start + 5800ms);
  s.run_to(start + 5s + 500ms);
  CHECK(s.state(5) == member_state::suspect);
  s.run_to(start + 8s);
  CHECK(s.state(5) == member_state::failed);
}

TEST_CASE("an answer that waited while we were late still counts", "[swim][stall]") {
  stage s(5);
  s.run_for(3s);
  s.silence();
  const auto asked = s.next_ping();
  s.run_for(900ms);  // of the second that the probe may take
  s.skip_to(s.now() + 900ms);
  s.run_for(0s);  // The next member's probe begins.
  const bool answered = GENERATE(true, false);
  if (answered) {
    const std::size_t actor = s.actor_at(asked.to);
    s.hear(actor, s.saying(actor, ack{std::get<ping>(asked.content.body).sequence}));
  }
  s.run_for(500ms);
  CHECK(s.count(event_kind::suspected) == (answered ? 0 : 1));
}

TEST_CASE("while somebody is judged, a pause of a quarter of the probe timeout is noticed",
          "[swim][stall]") {
  stage s(5);
  s.run_for(3s);
  s.silence();
  s.next_ping();
  for (int i = 0; i < 50; ++i) {
    REQUIRE(s.machine.next_deadline() <= s.now() + 125ms);
    s.run_for(7ms);
  }
}

TEST_CASE(
    "accusations that may have waited as long as we stood still are looked into, not believed",
    "[swim][stall]") {
  stage s(5);
  s.run_for(3s);
  s.skip_to(s.now() + 20s);
  s.run_for(0s);
  REQUIRE(s.machine.stats().stalls == 1);
  const bool verdict = GENERATE(false, true);
  s.datagrams.clear();
  if (verdict) {
    s.hear(1, s.failed(5, 1, 3));
  } else {
    for (std::size_t by = 1; by <= 4; ++by)
      s.hear(by, s.suspect(5, by));
  }
  CHECK(s.state(5) == member_state::alive);
  const auto pings = s.with<ping>();
  CHECK(std::any_of(pings.begin(), pings.end(),
                    [&](const auto& p) { return s.actor_at(p.to) == 5; }));
  s.run_for(1100ms);
  s.hear(1, s.suspect(5, 1));  // what is said from then on counts
  CHECK(s.state(5) == member_state::suspect);
}

TEST_CASE(
    "who stood still asks somebody what has happened: by datagram, or if it may have been given "
    "up, by a stream",
    "[swim][stall]") {
  const bool given_up = GENERATE(false, true);
  stage s(5);
  s.run_for(3s);
  s.streams.clear();
  s.datagrams.clear();
  s.skip_to(s.machine.next_deadline() + (given_up ? 60s : 4s));  // The shortest suspicion: 5 s.
  s.run_for(0s);
  REQUIRE(s.machine.stats().stalls == 1);
  CHECK(s.with<view_compare>().size() == (given_up ? 0 : 1));
  REQUIRE(s.streams.size() == (given_up ? 1 : 0));

  // As long as nobody has answered that, no other stream is opened for it.
  for (int again = 0; again < 3; ++again) {
    s.skip_to(s.machine.next_deadline() + (given_up ? 6s : 4s));
    s.run_for(0s);
    CHECK(s.streams.size() == (given_up ? 1 : 0));
  }
  CHECK(s.machine.stats().stalls == 4);
}

TEST_CASE(
    "who runs late compares no views for twice as long as it was late, and who stood still no "
    "longer for that it was longer",
    "[swim][stall]") {
  const base::duration late =
      GENERATE(base::duration(200ms), base::duration(1500ms), base::duration(10min));
  const base::duration behind = std::min(2 * late, base::duration(4s));  // Of two probe intervals.
  stage s(5);
  s.run_for(3s);
  s.skip_to(s.machine.next_deadline() + late);
  s.run_for(0s);
  const auto woke = s.now();
  std::uint64_t sequence = 100;
  const auto is_told_of_another_view = [&] {
    packet differs = s.saying(1, ping{++sequence, "m0", s.machine.self()->epoch});
    differs.from.view_digest ^= 1;
    s.hear(1, differs);
  };
  while (s.now() + 50ms < woke + behind) {
    is_told_of_another_view();
    CHECK(s.with<view_compare>().empty());
    s.run_for(50ms);
  }
  s.run_to(woke + behind);
  is_told_of_another_view();
  CHECK(s.with<view_compare>().size() == 1);
}
