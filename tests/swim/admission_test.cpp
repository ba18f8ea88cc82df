// Who is let in: a life that nobody here holds must answer a ping where it says that it is, before
// anybody is told of it.
#include "swim/admission.hpp"

#include <lifering/error.hpp>
#include <set>

#include "newcomer.hpp"
#include "stage.hpp"
#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

const refusal* refused(const stage& s) {
  return s.frames.empty() ? nullptr : std::get_if<refusal>(&s.frames.front().content.body);
}

bool welcomed(const stage& s) {
  return !s.frames.empty() && std::holds_alternative<sync_reply>(s.frames.front().content.body);
}

}  // namespace

TEST_CASE("an unknown life is admitted, and told so, when it has answered where it says it is",
          "[swim]") {
  stage s = quiet_stage();
  const record life = newcomer();
  knock_by_stream(s, life);
  CHECK(pings_for(s, life).size() == 1);
  CHECK(s.frames.empty());
  CHECK(s.count(event_kind::joined) == 0);
  s.run_for(5ms);
  answer_ping(s, life);
  CHECK(s.count(event_kind::joined, "newcomer") == 1);
  REQUIRE(welcomed(s));
  const auto& view = std::get<view_rows>(s.frames.back().content.body);
  CHECK(view.last);
  CHECK(view.rows.size() == 5);
}

TEST_CASE("one that answers no ping is refused in words after half a stream's time, not before",
          "[swim]") {
  const auto [stream_timeout, patience] = GENERATE(table<base::duration, base::duration>(
      {{10s, 5s}, {2s, 1s}, {30s, 5s}}));  // never longer than a join waits
  config settings = papers();
  settings.timing.stream_timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(stream_timeout);
  stage s = quiet_stage(settings);
  const record life = newcomer();
  const auto start = s.now();
  knock_by_stream(s, life);
  s.run_to(start + patience - 1ms);
  CHECK(s.frames.empty());
  s.run_to(start + patience);
  REQUIRE(refused(s));
  CHECK(refused(s)->reason == refusal_reason::invalid_member);
  CHECK(refused(s)->detail ==
        "we can't reach 10.0.0.77:7946: nobody there answers our pings by UDP for it; advertise "
        "the address that members reach this process at");
  CHECK(pings_for(s, life).size() == admission::tries_max);
  CHECK(s.count(event_kind::joined) == 0);
  s.run_for(10s);
  CHECK(pings_for(s, life).size() == admission::tries_max);
  CHECK(s.count(event_kind::joined) == 0);
}

TEST_CASE("a refusal's words fit into a frame, whatever the address", "[swim]") {
  stage s = quiet_stage();
  const record life = newcomer("newcomer", "[2001:0db8:1111:2222:3333:4444:5555:6666]:65535");
  knock_by_stream(s, life);
  s.run_for(5s);
  REQUIRE(refused(s));
  CHECK(refused(s)->detail.size() <= name_max);
}

TEST_CASE("where nobody listens, a few refusals over a quarter of the time are enough", "[swim]") {
  // 14 of 28 growing gaps: 105/406 of five seconds.
  stage s = quiet_stage();
  const record life = newcomer();
  const auto start = s.now();
  const bool enough = GENERATE(true, false);
  knock_by_stream(s, life);
  for (unsigned i = 0; i < admission::refusals_enough - (enough ? 0 : 1); ++i)
    s.give(peer_refused{life.address});
  s.give(peer_refused{*endpoint::parse("10.0.0.77:1")});  // somebody else's
  s.run_to(start + 1293ms);
  CHECK(s.frames.empty());
  s.run_to(start + 1294ms);
  REQUIRE((refused(s) != nullptr) == enough);
  if (!enough) return;
  CHECK(refused(s)->detail.find("10.0.0.77:7946: nobody listens there") != std::string::npos);
}

TEST_CASE("who binds late is admitted although its host refused at first", "[swim]") {
  stage s = quiet_stage();
  const record life = newcomer();
  knock_by_stream(s, life);
  for (int i = 0; i < 10; ++i)
    s.give(peer_refused{life.address});
  s.run_for(1200ms);
  CHECK(s.frames.empty());
  answer_ping(s, life);
  CHECK(welcomed(s));
  CHECK(s.count(event_kind::joined, "newcomer") == 1);
}

TEST_CASE("that there is no way to a newcomer's address says nothing about ourselves", "[swim]") {
  stage s(3);
  const record life = newcomer("newcomer", "192.0.2.1:7946");
  knock_by_stream(s, life);
  s.give(send_failed{life.address, errc::unreachable});
  CHECK(s.machine.local_health() == 0);
  s.give(send_failed{s.part(1)->address, errc::unreachable});
  CHECK(s.machine.local_health() == 1);
}

TEST_CASE("only the life that was asked can answer for itself", "[swim]") {
  stage s = quiet_stage();
  const record life = newcomer();
  knock_by_stream(s, life);
  const auto sequence = pings_for(s, life).back().sequence;
  packet other = s.saying(2, ack{sequence});
  s.hear(2, other);
  record later = life;
  later.epoch += 1;
  other = said_by(s, later);
  other.body = ack{sequence};
  s.give(packet_received{life.address, other});
  other = said_by(s, life);
  other.body = ack{sequence + 1};
  s.give(packet_received{life.address, other});
  CHECK(s.frames.empty());
  CHECK(s.count(event_kind::joined) == 0);
}

TEST_CASE("a newer life at an address that doesn't answer replaces nobody", "[swim]") {
  const bool fresh_below = GENERATE(false, true);
  stage s = quiet_stage();
  record life = *s.part(2);
  life.address = *endpoint::parse("192.0.2.1:7946");
  life.epoch = fresh_below ? life.epoch - 1 : make_epoch(2, 5);
  knock_by_stream(s, life, true);
  s.run_for(5s);
  REQUIRE(refused(s));
  CHECK(refused(s)->reason == refusal_reason::invalid_member);
  CHECK(refused(s)->detail.find("192.0.2.1:7946") != std::string::npos);
  CHECK(s.count(event_kind::updated) == 0);
  view_row row;
  REQUIRE(s.machine.find_member("m2", row));
  CHECK(*row.subject == *s.part(2));
}

TEST_CASE("a new process is asked before it is told its epoch, and not again after", "[swim]") {
  stage s = quiet_stage();
  record life = *s.part(2);
  life.epoch -= 1;
  knock_by_stream(s, life, true);
  CHECK(s.frames.empty());
  answer_ping(s, life);
  REQUIRE(welcomed(s));
  CHECK(std::get<sync_reply>(s.frames.front().content.body).remembered_epoch == s.part(2)->epoch);
  CHECK(s.count(event_kind::updated) == 0);
  record settled = life;
  settled.epoch = make_epoch(2, 9);
  s.give(stream_received{stream, own_row(s, settled)});
  CHECK(s.count(event_kind::updated, "m2") == 1);
  CHECK(pings_for(s, settled).empty());
}

TEST_CASE("who was only suspected or failed comes back by its stream unasked", "[swim]") {
  const bool moved = GENERATE(false, true);
  stage s = quiet_stage();
  s.hear(1, s.failed(2, 1, 3));
  REQUIRE(s.state(2) == member_state::failed);
  record life = *s.part(2);
  life.incarnation = 2;
  if (moved) life.address = *endpoint::parse("10.0.0.99:7946");
  knock_by_stream(s, life);
  CHECK((s.state(2) == member_state::alive) == !moved);
  CHECK(welcomed(s) == !moved);
  CHECK(pings_for(s, life).size() == (moved ? 1 : 0));
  if (!moved) return;
  answer_ping(s, life);
  CHECK(s.state(2) == member_state::alive);
  CHECK(welcomed(s));
}

TEST_CASE("one whom another member vouches for needn't answer us", "[swim]") {
  stage s = quiet_stage();
  const record life = newcomer();
  knock_by_stream(s, life);
  s.run_for(100ms);
  update news;
  news.subject = std::make_shared<const record>(life);
  news.incarnation = 1;
  s.hear(2, news);
  CHECK(s.count(event_kind::joined, "newcomer") == 1);
  CHECK(welcomed(s));
}

TEST_CASE("what a stranger says of itself in gossip is asked of it first", "[swim]") {
  const bool newer_life = GENERATE(false, true);
  stage s = quiet_stage();
  record life = newcomer();
  if (newer_life) {
    life.name = s.part(2)->name;
    life.epoch = make_epoch(2, 1);
  }
  packet news = said_by(s, life);
  news.updates.push_back(news_of(life));
  s.datagrams.clear();
  s.give(packet_received{life.address, news});
  CHECK(s.events.empty());
  CHECK(pings_for(s, life).size() == 1);
  s.run_for(10ms);
  answer_ping(s, life);
  REQUIRE(s.events.size() == 1);
  CHECK(s.events.front().kind == (newer_life ? event_kind::updated : event_kind::joined));
}

TEST_CASE("who knocked by datagram is told whom we know once it is admitted", "[swim]") {
  stage s = quiet_stage();
  const record life = newcomer();
  packet knock = said_by(s, life);
  knock.updates.push_back(news_of(life));
  knock.body = view_compare{std::vector<std::uint64_t>(16, 1)};
  s.datagrams.clear();
  s.give(packet_received{life.address, knock});
  CHECK(s.with<view_summary>().empty());
  answer_ping(s, life);
  REQUIRE(s.with<view_summary>().size() == 1);
  const auto told = s.with<view_summary>().front();
  CHECK(told.to == life.address);
  CHECK(std::get<view_summary>(told.content.body).names.size() == 5);
  CHECK(stage::mentions(told.content, "m0", update_kind::alive) == 1);
}

TEST_CASE("one stream has us ping one address, and none once it is gone", "[swim]") {
  stage s = quiet_stage();
  const record life = newcomer();
  knock_by_stream(s, life);
  record elsewhere = life;
  elsewhere.address = *endpoint::parse("10.0.0.78:7946");
  s.give(stream_received{stream, own_row(s, elsewhere)});
  CHECK(pings_for(s, elsewhere).empty());
  s.run_for(1s);
  const auto before = pings_for(s, life).size();
  CHECK(before > 5);
  s.give(stream_ended{stream, {}});
  s.run_for(5s);
  CHECK(pings_for(s, life).size() == before);
}

TEST_CASE("a place that was taken while a newcomer was asked is one that it can't have", "[swim]") {
  config settings = papers();
  settings.limits.members = 5;
  stage s = quiet_stage(settings);
  const record life = newcomer();
  knock_by_stream(s, life);
  const record faster = newcomer("faster", "10.0.0.78:7946");
  update news;
  news.subject = std::make_shared<const record>(faster);
  news.incarnation = 1;
  s.hear(2, news);
  answer_ping(s, life);
  REQUIRE(refused(s));
  CHECK(refused(s)->reason == refusal_reason::too_many_members);
}

TEST_CASE("who joins admits a seed only where it can be reached, and says so if that is nowhere",
          "[swim]") {
  // Has it pinged us from the address that it advertises, or does it answer there, or neither?
  const std::string how = GENERATE("called", "answers", "silent");
  stage s(0);
  s.give(join_command{command_id{1}, {"10.0.0.9:7946"}, 20s});
  s.give(seed_resolved{"10.0.0.9:7946", {*endpoint::parse("10.0.0.9:7946")}, {}});
  REQUIRE(s.streams.size() == 1);
  const stream_id ours = s.streams.front().stream;
  const record seed = newcomer("seed", "10.0.0.9:7946");
  if (how == "called") {
    packet call = said_by(s, seed);
    call.body = ping{5, s.name(0), s.machine.self()->epoch};
    s.give(packet_received{seed.address, call});
  }
  packet reply = said_by(s, seed);
  reply.body = sync_reply{0, {}};
  s.give(stream_received{ours, reply});
  s.give(stream_received{ours, own_row(s, seed)});
  CHECK(pings_for(s, seed).size() == (how == "called" ? 0 : 1));
  CHECK(s.count(event_kind::joined) == (how == "called" ? 1 : 0));
  if (how == "answers") answer_ping(s, seed);
  if (how != "silent") {
    REQUIRE(s.done.size() == 1);
    CHECK_FALSE(s.done.front().error);
    CHECK(s.count(event_kind::joined, "seed") == 1);
    return;
  }
  s.run_for(4999ms);
  CHECK(s.done.empty());
  s.run_for(1ms);
  REQUIRE(s.done.size() == 1);
  CHECK(s.done.front().error == errc::no_seed_answered);
  CHECK(s.done.front().detail.find("it advertises 10.0.0.9:7946, but nobody there answers") !=
        std::string::npos);
  CHECK(s.count(event_kind::joined) == 0);
}

TEST_CASE("members that join each other at one moment let all in but the one that is nowhere",
          "[swim]") {
  village v(4);
  const std::size_t lost = v.add("lost");
  // Its packets arrive, and it hears what is sent to where its streams go; but nobody can send to
  // what it advertises.
  v.filter = [lost](std::size_t, std::size_t to, const packet&) { return to != lost; };
  for (std::size_t who = 0; who < v.size(); ++who) {
    join_command all{command_id{100 + who}, {}, 10s};
    for (std::size_t other = 0; other < v.size(); ++other)
      all.seeds.push_back(v.at(other).address.to_string());
    v.command(who, all);
  }
  REQUIRE(v.run_until(
      [&] {
        for (std::size_t who = 0; who < 4; ++who) {
          if (v.machine(who).present_members() != 4 || v.at(who).done.empty()) return false;
        }
        return true;
      },
      1s));
  v.run_for(60s);
  for (std::size_t who = 0; who < 4; ++who) {
    CHECK_FALSE(v.at(who).done.front().error);
    CHECK(v.count(who, event_kind::joined, "lost") == 0);
  }
  REQUIRE(v.at(lost).done.size() == 1);
  CHECK(v.at(lost).done.front().error == errc::invalid_address);
  CHECK(v.at(lost).done.front().detail.find("we can't reach " + v.at(lost).address.to_string()) !=
        std::string::npos);
}

TEST_CASE("a seed that can't reach a newcomer doesn't end a join that another one can serve",
          "[swim]") {
  village v(2);
  v.form();
  const std::size_t third = v.add("third");
  v.filter = [third](std::size_t from, std::size_t to, const packet&) {
    return from != 0 || to != third;
  };
  join_command both{command_id{50}, {}, 10s};
  for (std::size_t seed = 0; seed < 2; ++seed)
    both.seeds.push_back(v.at(seed).address.to_string());
  v.command(third, both);
  REQUIRE(v.run_until([&] { return !v.at(third).done.empty(); }, 1s));
  CHECK_FALSE(v.at(third).done.front().error);
  CHECK(v.run_until([&] { return v.all_see(3); }, 1s));
}

TEST_CASE("at 40 % loss each way no member that can be reached is refused", "[swim]") {
  village v(1);
  base::rng random(7);
  v.filter = [&random](std::size_t, std::size_t, const packet&) { return !random.chance(2, 5); };
  for (int i = 0; i < 60; ++i)
    v.join(v.add("late-" + std::to_string(i)), 0);
  CHECK(v.run_until([&] { return v.all_see(61); }, 10s));
  for (std::size_t who = 1; who < v.size(); ++who) {
    REQUIRE_FALSE(v.at(who).done.empty());
    CHECK_FALSE(v.at(who).done.front().error);
  }
}
