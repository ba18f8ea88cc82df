// What is remembered of the gone, for how long, and what happens past that: nobody is revived by a
// late word, and no grave goes round for ever.
#include <algorithm>
#include <memory>

#include "stage.hpp"
#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

config with_graves_of(std::chrono::milliseconds time) {
  config settings = papers();
  settings.timing.grave_time = time;
  return settings;
}

view_delta telling(const stage& s, std::size_t actor, member_state state, std::uint32_t age) {
  view_row row;
  row.subject = s.part(actor);
  row.incarnation = 1;
  row.state = state;
  row.age_seconds = age;
  view_delta delta;
  delta.rows.push_back(row);
  return delta;
}

record_ptr stranger(const std::string& name, std::uint8_t host) {
  record made;
  made.name = name;
  made.epoch = make_epoch(1, 77);
  made.incarnation = 1;
  made.address = endpoint::v4({10, 9, 0, host}, 7946);
  return std::make_shared<const record>(std::move(made));
}

update alive(const record_ptr& life) {
  update news;
  news.subject = life;
  news.incarnation = life->incarnation;
  return news;
}

}  // namespace

TEST_CASE("A15 a grave that has ended isn't learned again from peers that still remember it",
          "[swim][grave]") {
  stage s(9, with_graves_of(20s));
  s.hear(1, s.left(9));
  s.run_for(25s);
  REQUIRE(s.machine.graves() == 0);
  s.hear(1, s.saying(1, telling(s, 9, member_state::left, 25)));
  CHECK(s.machine.graves() == 0);
}

TEST_CASE("a grave learned from a peer ends when it does there", "[swim][grave]") {
  stage s(9, with_graves_of(20s));
  s.hear(1, s.left(9));
  s.run_for(25s);
  REQUIRE(s.machine.graves() == 0);
  const auto told = s.now();
  s.hear(1, s.saying(1, telling(s, 9, member_state::failed, 15)));
  CHECK(s.machine.graves() == 1);
  s.run_to(told + 4900ms);
  CHECK(s.machine.graves() == 1);
  s.run_to(told + 6s);
  CHECK(s.machine.graves() == 0);
}

TEST_CASE("rows tell how old a grave is", "[swim][grave]") {
  stage s(9, with_graves_of(60s));
  s.hear(1, s.left(9));
  s.run_for(25s);
  view_delta want;
  want.wanted.push_back(hash_bytes("m9"));
  s.datagrams.clear();
  s.hear(1, s.saying(1, want));
  const auto deltas = s.with<view_delta>();
  REQUIRE(deltas.size() == 1);
  const auto& rows = std::get<view_delta>(deltas.front().content.body).rows;
  REQUIRE(rows.size() == 1);
  CHECK(rows.front().state == member_state::left);
  CHECK(rows.front().age_seconds == 25);
}

TEST_CASE("A17 past the grave an old claim revives nobody: an unknown life must answer a probe",
          "[swim][grave]") {
  config settings;
  settings.timing.grave_time = 10s;
  village v(4, settings);
  v.form();
  view_row row;
  REQUIRE(v.machine(0).find_member("m4", row));
  v.vanish(3);
  v.run_for(60s);
  packet late;
  late.from.name = "m2";
  late.from.epoch = v.machine(1).self()->epoch;
  late.from.incarnation = 1;
  late.updates.push_back(alive(row.subject));
  REQUIRE_FALSE(v.machine(0).find_member("m4", row));
  v.at(0).events.clear();
  v.inject(0, v.at(1).address, late);
  v.run_for(30s);
  CHECK(v.count(0, event_kind::joined, "m4") == 0);
  CHECK(v.machine(0).stats().dropped_unanswered == 1);
}

TEST_CASE("an unknown life past the graves is admitted once it has answered, by itself",
          "[swim][grave]") {
  stage s(5, with_graves_of(10s));
  s.run_for(11s);
  const record_ptr life = stranger("new", 1);
  s.datagrams.clear();
  s.hear(1, alive(life));
  CHECK(s.count(event_kind::joined, "new") == 0);
  const auto pings = s.with<ping>();
  const auto asked = std::find_if(pings.begin(), pings.end(),
                                  [&](const auto& p) { return p.to == life->address; });
  REQUIRE(asked != pings.end());
  const auto& question = std::get<ping>(asked->content.body);
  CHECK(question.target == "new");
  CHECK(question.target_epoch == life->epoch);
  s.hear(1, s.saying(1, ack{question.sequence}));  // somebody else's word
  CHECK(s.count(event_kind::joined, "new") == 0);
  packet answer;
  answer.from.name = "new";
  answer.from.epoch = life->epoch;
  answer.from.incarnation = 1;
  answer.body = ack{question.sequence};
  s.give(packet_received{life->address, answer});
  CHECK(s.count(event_kind::joined, "new") == 1);
}

TEST_CASE("a lost ping to an unknown life is repeated, and silence ends it", "[swim][grave]") {
  stage s(5, with_graves_of(10s));
  s.run_for(11s);
  const record_ptr life = stranger("new", 1);
  s.datagrams.clear();
  s.hear(1, alive(life));
  s.run_for(20s);
  const auto pings = s.with<ping>();
  const auto times = std::count_if(pings.begin(), pings.end(),
                                   [&](const auto& p) { return p.to == life->address; });
  CHECK(times == 6);
  CHECK(s.machine.stats().dropped_unanswered == 1);
}

TEST_CASE("before any grave can have ended an unknown life joins at once", "[swim][grave]") {
  stage s(5, with_graves_of(10s));
  s.run_for(9s);
  s.hear(1, alive(stranger("new", 1)));
  CHECK(s.count(event_kind::joined, "new") == 1);
}

TEST_CASE("the unknown that must prove themselves are bounded", "[swim][grave]") {
  stage s(5, with_graves_of(10s));
  s.run_for(11s);
  for (int i = 0; i < 1100; ++i)
    s.hear(1, alive(stranger("n" + std::to_string(i), static_cast<std::uint8_t>(i % 250))));
  CHECK(s.machine.stats().dropped_unanswered == 1100 - 1024);
}

TEST_CASE("members of an old cluster join, restart and find each other again", "[swim][grave]") {
  config settings;
  settings.timing.grave_time = 10s;
  village v(5, settings);
  v.form();
  v.run_for(30s);
  const auto added = v.add("late");
  v.join(added, 0);
  REQUIRE(v.run_until([&] { return v.all_see(6) && v.same_view(); }, 5s));
  v.crash(2);
  v.run_for(30s);  // its grave is gone
  v.restart(2);
  v.join(2, 0);
  REQUIRE(v.run_until([&] { return v.all_see(6) && v.same_view(); }, 5s));
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 3; b < 6; ++b) {
      v.cut(a, b);
      v.cut(b, a);
    }
  }
  v.run_for(120s);  // both halves have forgotten each other
  v.mend();
  REQUIRE(v.run_until([&] { return v.all_see(6) && v.same_view(); }, 120s));
}

TEST_CASE("who stood still for longer than graves last tells nothing of others before it has asked",
          "[swim][grave]") {
  stage s(5, with_graves_of(30s));
  s.run_for(3s);
  s.skip_to(s.now() + 60s);
  s.datagrams.clear();
  s.frames.clear();
  s.run_for(10ms);
  REQUIRE(s.machine.stats().stalls == 1);
  REQUIRE_FALSE(s.frames.empty());
  for (const auto& frame : s.frames) {
    if (const auto* view = std::get_if<view_rows>(&frame.content.body)) {
      REQUIRE(view->rows.size() == 1);
      CHECK(view->rows.front().subject->name == "m0");
    }
  }
  view_delta want;
  want.wanted.push_back(hash_bytes("m2"));
  s.hear(1, s.saying(1, want));
  CHECK(s.with<view_delta>().empty());
  // Once somebody's view was merged it answers again.
  const auto stream = s.streams.front().stream;
  s.give(stream_received{stream, s.saying(1, sync_reply{})});
  view_rows all;
  all.last = true;
  s.give(stream_received{stream, s.saying(1, all)});
  s.hear(1, s.saying(1, want));
  CHECK(s.with<view_delta>().size() == 1);
}
