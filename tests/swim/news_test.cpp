// How news is taken in, from gossip and from views, and how long it keeps a machine busy.
#include <algorithm>

#include "stage.hpp"
#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

/// A row of a peer's view: that actor's record at an incarnation, in a state.
packet view(const stage& s, std::size_t actor, std::uint64_t incarnation, member_state state) {
  record said = *s.part(actor);
  said.incarnation = incarnation;
  view_delta rows;
  rows.rows.push_back({std::make_shared<const record>(said), incarnation, state});
  return s.saying(1, rows);
}

}  // namespace

TEST_CASE("a view that says failed at a higher incarnation revives no failed member", "[swim]") {
  stage s(9);
  s.hear(1, s.failed(9, 1, 9));
  s.events.clear();
  s.hear(1, view(s, 9, 2, member_state::failed));
  CHECK(s.state(9) == member_state::failed);
  CHECK(s.events.empty());
}

TEST_CASE("a view that says left makes no detour through joined", "[swim]") {
  stage s(9);
  s.hear(1, s.failed(9, 1, 9));
  s.events.clear();
  s.hear(1, view(s, 9, 2, member_state::left));
  CHECK(s.state(9) == member_state::left);
  CHECK(s.events.empty());
}

TEST_CASE("a failure in a view is asked about, not believed, of one that is present", "[swim]") {
  const bool is_gone = GENERATE(false, true);
  stage s(30);  // Its turn to be probed is far away.
  if (is_gone) s.silent.insert(9);
  s.datagrams.clear();
  s.hear(1, view(s, 9, 1, member_state::failed));
  CHECK(s.state(9) == member_state::alive);
  CHECK(s.events.empty());
  REQUIRE_FALSE(s.datagrams.empty());
  for (const auto& asked : s.datagrams)
    CHECK(s.actor_at(asked.to) == 9);
  CHECK(s.mentions(9, update_kind::suspect) == 1);
  s.run_for(1500ms);
  CHECK(s.state(9) == (is_gone ? member_state::suspect : member_state::alive));
}

TEST_CASE("a view that lives longer than ours brings what we lack, once", "[swim]") {
  stage s(9);
  s.hear(1, view(s, 9, 7, member_state::alive));
  s.hear(1, view(s, 9, 7, member_state::alive));
  CHECK(s.count(event_kind::updated) == 0);  // nothing of its content changed
  view_row row;
  REQUIRE(s.machine.find_member("m9", row));
  CHECK(row.incarnation == 7);
}

TEST_CASE("what a suspicion has overtaken is an update only if it brings something", "[swim]") {
  const std::string metadata = GENERATE("", "new");
  stage s(9);
  s.hear(1, s.suspect(9, 1, 8));
  REQUIRE(s.state(9) == member_state::suspect);
  s.events.clear();

  record said = *s.part(9);
  said.incarnation += 1;
  said.metadata = metadata;
  update contradiction;
  contradiction.subject = std::make_shared<const record>(said);
  contradiction.incarnation = said.incarnation;
  s.hear(2, contradiction);
  CHECK(s.state(9) == member_state::suspect);
  CHECK(s.events.size() == (metadata.empty() ? 0 : 1));
  CHECK(s.count(event_kind::updated) == s.events.size());
  CHECK(s.renewed.size() == (metadata.empty() ? 1 : 0));
  view_row row;
  REQUIRE(s.machine.find_member("m9", row));
  CHECK(row.subject->incarnation == said.incarnation);
  CHECK(row.incarnation == 8);
}

TEST_CASE("a confirmation that comes when the suspicion was gossiped out is gossiped too",
          "[swim]") {
  stage s(9);
  s.hear(1, s.suspect(9, 1));
  s.drain(2);
  s.datagrams.clear();
  s.hear(2, s.suspect(9, 2));
  s.ping_machine(3, 5);
  REQUIRE(s.mentions(9, update_kind::suspect) == 1);
  CHECK(s.with<ack>().front().content.updates.front().accuser == "m2");
}

TEST_CASE("a suspicion that was only heard of is never passed on in our name", "[swim]") {
  stage s(9);
  s.hear(1, s.suspect(9, 1));
  s.silent.insert(9);
  REQUIRE(s.run_until([&] { return !s.with<ping_request>().empty(); }, 20s));
  REQUIRE(s.machine.stats().suspicions_raised == 0);
  for (const auto& sent : s.datagrams) {
    if (s.actor_at(sent.to) == 9) continue;  // it must only know that it is suspected
    for (const update& u : sent.content.updates)
      CHECK(u.accuser != "m0");
  }
}

TEST_CASE("who still suspects a failed member is told, and needn't wait alone", "[swim]") {
  // One member misses both suspicion and failure of another.
  village v(10);
  v.form();
  bool deafened = true;
  v.filter = [&](std::size_t, std::size_t to, const packet& content) {
    return !deafened || to != 0 ||
           std::none_of(content.updates.begin(), content.updates.end(), [](const update& u) {
             return u.kind == update_kind::failed || u.kind == update_kind::suspect;
           });
  };
  v.vanish(9);
  const auto others_know = [&] {
    for (std::size_t i = 1; i < 9; ++i) {
      if (v.state(i, "m10") != member_state::failed) return false;
    }
    return true;
  };
  REQUIRE(v.run_until(others_know, 15s));
  v.run_for(1s);
  REQUIRE(v.state(0, "m10") != member_state::failed);
  deafened = false;
  CHECK(v.run_until([&] { return v.state(0, "m10") == member_state::failed; }, 7s));
}

/// The second actor repeats an accusation that was contradicted: at once, then after `pause`.
void repeat(stage& s, std::size_t subject, const update& accusation, base::duration pause) {
  s.drain(3);
  s.datagrams.clear();
  s.hear(2, accusation);  // it crossed the contradiction
  CHECK(s.datagrams.empty());
  s.run_for(pause);
  s.drain(3);
  s.datagrams.clear();
  s.hear(2, accusation);  // the contradiction never got there
  REQUIRE(s.datagrams.size() == 1);
  CHECK(s.actor_at(s.datagrams.front().to) == 2);
  const auto& told = s.datagrams.front().content;
  CHECK(stage::mentions(told, stage::name(subject), update_kind::alive) == 1);
}

TEST_CASE("who repeats an accusation that we contradicted is told again, after a moment",
          "[swim]") {
  stage s(9);
  s.hear(1, s.suspect(0, 1));
  REQUIRE(s.machine.stats().refutations == 1);
  repeat(s, 0, s.suspect(0, 1), 2s);
  CHECK(s.machine.self()->incarnation == 2);
}

TEST_CASE("who still suspects a member that contradicted is told by others too", "[swim]") {
  stage s(9);
  s.hear(1, s.suspect(9, 1));
  s.hear(9, s.alive(9, 2));
  REQUIRE(s.state(9) == member_state::alive);
  repeat(s, 9, s.suspect(9, 2), 3s);
  CHECK(s.state(9) == member_state::alive);
}

TEST_CASE("a machine alone keeps its news for the first who comes, and sleeps", "[swim]") {
  village v(2);
  v.command(
      0, update_command{command_id{1}, std::nullopt, std::nullopt, std::string("x"), std::nullopt});
  v.run_for(1s);
  CHECK(v.machine(0).queued_updates() == 1);
  CHECK(v.machine(0).next_deadline() > v.now() + 20ms);
  v.join(1, 0);
  REQUIRE(v.run_until([&] { return v.all_see(2) && v.same_view(); }, 2s));
  v.run_for(3s);
  CHECK(v.machine(0).queued_updates() == 0);
}

TEST_CASE("a record too large for a datagram wakes nobody for ever, and travels in views",
          "[swim]") {
  village v(4);
  v.form();
  v.command(1, update_command{command_id{1}, std::nullopt, std::nullopt, std::string(4'000, 'x'),
                              std::nullopt});
  REQUIRE(v.run_until([&] { return v.same_view(); }, 10s));
  std::size_t sent = 0;
  v.filter = [&](std::size_t, std::size_t, const packet&) {
    ++sent;
    return true;
  };
  v.run_for(10s);
  CHECK(sent < 4 * 20 * 3);  // two probes a second and member, with some room
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(v.machine(i).queued_updates() == 0);
    view_row row;
    REQUIRE(v.machine(i).find_member("m2", row));
    CHECK(row.subject->metadata.size() == 4'000);
  }
}

TEST_CASE("a suspicion of the only other member isn't sent to it without a pause", "[swim]") {
  stage s(1);
  s.silent.insert(1);
  REQUIRE(s.run_until([&] { return s.state(1) == member_state::suspect; }, 5s));
  s.datagrams.clear();
  s.run_for(2s);
  REQUIRE(s.state(1) == member_state::suspect);
  CHECK(s.mentions(1, update_kind::suspect) > 0);
  CHECK(s.datagrams.size() < 30);  // a gossip round each 200 ms, and probes

  // Once it is told, the next news is as urgent as any.
  s.silent.erase(1);
  s.hear(1, s.alive(1, 2));
  REQUIRE(s.state(1) == member_state::alive);
  s.run_for(2s);
  s.datagrams.clear();
  update_command asked;
  asked.id = command_id{1};
  asked.metadata = "new";
  s.give(asked);
  s.run_for(2ms);
  CHECK(s.mentions(0, update_kind::alive) > 0);
}

TEST_CASE("news in place of what a round could tell nobody is as urgent as any", "[swim]") {
  // One member a round: with some seeds it is the suspect, who isn't told of itself.
  config settings = papers();
  settings.timing.gossip_peers = 1;
  const auto seed = GENERATE(range(1u, 9u));
  stage s(2, settings, seed);
  s.run_for(3s);
  s.hear(2, s.suspect(1, 2));
  s.run_for(12ms);
  s.datagrams.clear();
  s.hear(2, s.left(1));
  s.run_for(12ms);
  CHECK(s.mentions(1, update_kind::left) > 0);
}

TEST_CASE("a life that is told of the grave of a later one outgrows it when new, else stops",
          "[swim]") {
  const bool fresh = GENERATE(true, false);
  stage s(9);
  s.run_for(fresh ? 3s : 600s);
  const auto before = s.machine.self()->epoch;
  update grave = s.failed(0, 1, 3);
  grave.epoch = make_epoch(2, 9);
  s.hear(1, grave);
  CHECK(s.count(event_kind::superseded) == (fresh ? 0 : 1));
  CHECK((s.machine.self()->epoch > grave.epoch) == fresh);
  if (!fresh) {
    CHECK(s.machine.self()->epoch == before);
    CHECK(s.machine.next_deadline() == base::never);
  }
}

TEST_CASE("of more news than a packet holds, each piece goes round as fast as one alone",
          "[swim]") {
  // A hundred joins at once: sent in turn, the last ones would be known only seconds later.
  const auto time_to_go_round = [](std::size_t pieces) {
    stage s(50);
    for (std::size_t i = 0; i < pieces; ++i)
      s.hear(1, s.alive(51 + i, 1));
    const base::time_point heard = s.now();
    while (s.machine.queued_updates() > 0 && s.now() < heard + 1min)
      s.run_for(1ms);
    return s.now() - heard;
  };
  const base::duration one = time_to_go_round(1);
  const base::duration many = time_to_go_round(200);
  CHECK(one > 200ms);
  CHECK(many < 4 * one);
  CHECK(many > one / 4);
}
