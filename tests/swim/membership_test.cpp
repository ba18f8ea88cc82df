// Joining, failing, contradicting, leaving, restarting: what every member sees of it.
#include <lifering/error.hpp>

#include "stage.hpp"
#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

TEST_CASE("members that join one seed see each other once") {
  const auto size = GENERATE(std::size_t{2}, std::size_t{3}, std::size_t{10}, std::size_t{30});
  village v(size);
  for (std::size_t i = 1; i < size; ++i)
    v.join(i, 0);
  REQUIRE(v.run_until([&] { return v.all_see(size) && v.same_view(); }, 2s));
  for (std::size_t i = 0; i < size; ++i) {
    CHECK(v.count(i, event_kind::joined, "") == size - 1);
    CHECK(v.count(i, event_kind::suspected, "") == 0);
  }
  CHECK(v.at(1).done.size() == 1);
  CHECK_FALSE(v.at(1).done.front().error);
}

TEST_CASE("nothing happens in a quiet cluster") {
  village v(10);
  v.form();
  for (std::size_t i = 0; i < 10; ++i)
    v.at(i).events.clear();
  v.run_for(120s);
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(v.at(i).events.empty());
    CHECK(v.machine(i).local_health() == 0);
    CHECK(v.machine(i).queued_updates() == 0);
  }
}

TEST_CASE("a crashed process is suspected, then failed, once everywhere") {
  const auto size = GENERATE(std::size_t{2}, std::size_t{3}, std::size_t{5}, std::size_t{20});
  const bool host_answers = GENERATE(true, false);
  village v(size);
  v.form();
  if (host_answers)
    v.crash(size - 1);
  else
    v.vanish(size - 1);
  const std::string gone = v.at(size - 1).name;
  REQUIRE(v.run_until([&] { return v.everywhere(gone, member_state::failed); }, 15s));
  v.run_for(20s);
  for (std::size_t i = 0; i + 1 < size; ++i) {
    CHECK(v.count(i, event_kind::failed, gone) == 1);
    CHECK(v.count(i, event_kind::left, gone) == 0);
    CHECK(v.count(i, event_kind::failed, "") == 1);
    CHECK(v.machine(i).local_health() == 0);
  }
}

TEST_CASE("a refused packet makes a crash known sooner than silence does") {
  base::duration times[2];
  for (const bool host_answers : {false, true}) {
    village v(10, {}, 7);
    v.form();
    const auto start = v.now();
    if (host_answers)
      v.crash(9);
    else
      v.vanish(9);
    REQUIRE(v.run_until([&] { return v.everywhere("m10", member_state::failed); }, 15s));
    times[host_answers] = v.now() - start;
  }
  CHECK(times[true] < times[false]);
}

TEST_CASE("a leave is acknowledged, seen as left everywhere, and never as failed") {
  const auto size = GENERATE(std::size_t{2}, std::size_t{3}, std::size_t{5}, std::size_t{20});
  village v(size);
  v.form();
  v.at(size - 1).done.clear();
  v.leave(size - 1);
  REQUIRE(v.run_until([&] { return !v.at(size - 1).done.empty(); }, 1s));
  CHECK_FALSE(v.at(size - 1).done.back().error);
  CHECK(v.at(size - 1).done.back().count == std::min<std::size_t>(3, size - 1));
  v.crash(size - 1);
  const std::string gone = v.at(size - 1).name;
  REQUIRE(v.run_until([&] { return v.everywhere(gone, member_state::left); }, 1s));
  v.run_for(30s);
  for (std::size_t i = 0; i + 1 < size; ++i) {
    CHECK(v.count(i, event_kind::left, gone) == 1);
    CHECK(v.count(i, event_kind::failed, "") == 0);
  }
}

TEST_CASE("a member alone leaves at once") {
  village v(1);
  v.leave(0);
  REQUIRE(v.at(0).done.size() == 1);
  CHECK_FALSE(v.at(0).done.front().error);
}

TEST_CASE("after a leave the same object joins again, as a newer life") {
  village v(4);
  v.form();
  const auto before = v.machine(3).self()->epoch;
  for (int round = 0; round < 5; ++round) {
    v.leave(3);
    REQUIRE(v.run_until([&] { return v.everywhere("m4", member_state::left); }, 2s));
    v.run_for(1s);
    v.join(3, 0);
    REQUIRE(
        v.run_until([&] { return v.everywhere("m4", member_state::alive) && v.same_view(); }, 2s));
  }
  CHECK(v.machine(3).self()->epoch > before);
  CHECK(v.count(0, event_kind::left, "m4") == 5);
  CHECK(v.count(0, event_kind::joined, "m4") == 6);
}

TEST_CASE("a suspected member that lives contradicts and is alive again") {
  village v(6);
  v.form();
  packet lie;
  lie.from.name = "m2";
  lie.from.epoch = v.machine(1).self()->epoch;
  lie.from.incarnation = 1;
  update claim;
  claim.kind = update_kind::suspect;
  claim.name = "m3";
  claim.epoch = v.machine(2).self()->epoch;
  claim.incarnation = v.machine(2).self()->incarnation;
  claim.accuser = "m2";
  claim.accuser_epoch = lie.from.epoch;
  lie.updates.push_back(claim);
  v.inject(0, v.at(1).address, lie);
  REQUIRE(v.state(0, "m3") == member_state::suspect);
  REQUIRE(
      v.run_until([&] { return v.everywhere("m3", member_state::alive) && v.same_view(); }, 1s));
  v.run_for(20s);
  CHECK(v.count(0, event_kind::suspected, "m3") == 1);
  CHECK(v.count(0, event_kind::recovered, "m3") == 1);
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(v.count(i, event_kind::failed, "") == 0);
  CHECK(v.machine(2).self()->incarnation == claim.incarnation + 1);
}

TEST_CASE("a restart is one event everywhere, at the same or at another address") {
  const bool moved = GENERATE(false, true);
  const bool noticed = GENERATE(false, true);
  const bool joins = GENERATE(true, false);
  if (moved && !joins) return;  // nobody could know the new address
  village v(6);
  v.form();
  const auto before = v.machine(5).self()->epoch;
  v.crash(5);
  if (noticed) {
    REQUIRE(v.run_until([&] { return v.everywhere("m6", member_state::failed); }, 10s));
  }
  for (std::size_t i = 0; i < 5; ++i)
    v.at(i).events.clear();
  v.restart(5, moved ? "10.0.9.9:7946" : "");
  if (joins) v.join(5, 0);
  const auto accepted = [&] {
    for (std::size_t i = 0; i < 5; ++i) {
      view_row row;
      if (!v.machine(i).find_member("m6", row) || row.subject->epoch <= before ||
          row.state != member_state::alive) {
        return false;
      }
    }
    return v.same_view();
  };
  CAPTURE(moved, noticed, joins);
  REQUIRE(v.run_until(accepted, joins ? 2s : 15s));
  v.run_for(10s);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(v.count(i, noticed ? event_kind::joined : event_kind::updated, "m6") == 1);
    CHECK(v.count(i, event_kind::failed, "") == 0);
    CHECK(v.count(i, event_kind::left, "") == 0);
  }
  CHECK(v.machine(5).self()->epoch > before);
}

TEST_CASE("of two live holders of a name the older is told and stops") {
  village v(4);
  v.form();
  const std::size_t usurper = v.add("m4", "10.0.7.7:7946");
  v.join(usurper, 0);
  REQUIRE(v.run_until([&] { return v.count(3, event_kind::superseded, "m4") == 1; }, 3s));
  CHECK(v.machine(3).next_deadline() == base::never);
  v.run_for(5s);
  view_row row;
  REQUIRE(v.machine(0).find_member("m4", row));
  CHECK(row.subject->address == v.at(usurper).address);
  CHECK(v.count(0, event_kind::failed, "m4") == 0);
  CHECK(v.count(0, event_kind::updated, "m4") == 1);
  CHECK(v.count(usurper, event_kind::superseded, "") == 0);
}

TEST_CASE("all restarted at once come together") {
  village v(12);
  v.form();
  for (std::size_t i = 0; i < 12; ++i)
    v.crash(i);
  v.run_for(100ms);
  for (std::size_t i = 0; i < 12; ++i)
    v.restart(i);
  for (std::size_t i = 0; i < 12; ++i)
    v.join(i, (i + 5) % 12);
  REQUIRE(v.run_until([&] { return v.all_see(12) && v.same_view(); }, 3s));
}

TEST_CASE("a change of one's own record reaches everybody, once") {
  village v(8);
  v.form();
  effects out;
  update_command change{command_id{99}, weight{}, std::nullopt, std::string("v2"), std::nullopt};
  v.machine(2).handle(v.now(), change, out);
  v.run_for(2s);
  for (std::size_t i = 0; i < 8; ++i) {
    view_row row;
    REQUIRE(v.machine(i).find_member("m3", row));
    CHECK(row.subject->metadata == "v2");
    if (i != 2) CHECK(v.count(i, event_kind::updated, "m3") == 1);
  }
}

TEST_CASE("who leaves while a peer's host refuses doesn't storm it") {
  village v(3);
  v.form();
  v.crash(2);
  v.cut(0, 1);
  v.cut(1, 0);
  std::size_t sent = 0;
  v.filter = [&](std::size_t from, std::size_t to, const packet&) {
    sent += from == 0 && to == 2;
    return true;
  };
  v.leave(0);
  v.run_for(5s);
  CHECK(v.at(0).done.back().error == errc::timed_out);
  CHECK(sent > 0);
  CHECK(sent < 400);  // two notices each 50 ms at the most
}

TEST_CASE("who speaks of no view says nothing about whether we agree", "[swim]") {
  stage s(3);
  s.run_for(10s);
  const auto differing = [&] { return s.machine.agreement(s.now()).differing; };
  REQUIRE(differing() == 0);
  packet other = s.saying(1, ack{1});
  other.from.ring_fingerprint ^= 1;
  other.from.known_members = 0;
  s.hear(1, other);
  CHECK(differing() == 0);
  other.from.known_members = 4;
  s.hear(1, other);
  CHECK(differing() == 1);
  other.from.known_members = 0;
  s.hear(1, other);
  CHECK(differing() == 1);
}
