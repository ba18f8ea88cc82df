// What a probe does beyond the papers: repeated pings, a stream beside the helpers, refusals as
// evidence, peers that confirm at once, and lives that must not answer for each other.
#include <algorithm>
#include <lifering/error.hpp>
#include <set>

#include "stage.hpp"
#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

TEST_CASE("a probe of an older life accuses no newer one", "[swim]") {
  const bool refused = GENERATE(false, true);
  stage s(9);
  s.silence();
  const stage::sent direct = s.next_ping();
  const std::size_t target = s.actor_at(direct.to);
  record newer = *s.part(target);
  newer.epoch = make_epoch(2, target);
  update news;
  news.subject = std::make_shared<const record>(newer);
  news.incarnation = 1;
  s.hear(target == 1 ? 2 : 1, news);
  s.silent.clear();
  if (refused) s.give(peer_refused{direct.to});
  s.run_to(direct.at + 3s);
  CHECK(s.count(event_kind::suspected) == 0);
  CHECK(s.count(event_kind::updated, s.name(target)) == 1);
}

TEST_CASE(
    "probes begin on fifths of their interval by the machine's clock, each member's by chance",
    "[swim]") {
  const auto tick = [](base::time_point at) {
    CHECK(at.time_since_epoch() % 200ms == base::duration::zero());
    return at.time_since_epoch() % 1s;
  };
  std::set<base::duration> ticks;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    stage s(3, papers(), seed);
    s.run_for(seed * 7ms);
    const auto first = s.next_ping().at;
    ticks.insert(tick(first));
    const auto second = s.next_ping().at;
    CHECK(second - first == 1s);
    // Who was held up takes the next tick that is an interval away.
    s.skip_to(second + 1s + 321ms);
    const auto late = s.next_ping().at;
    CHECK(late == second + 1s + 321ms);
    s.run_for(999ms);  // It may ask once more, after such a pause.
    const auto next = s.next_ping().at;
    tick(next);
    CHECK(next - late >= 1s);
    CHECK(next - late < 1s + 200ms);
  }
  CHECK(ticks.size() == 5);
}

TEST_CASE("members in doubt aren't asked to help", "[swim]") {
  stage s(9);
  for (std::size_t subject = 1; subject <= 6; ++subject)
    s.hear(9, s.suspect(subject, 9));
  s.silent.insert(8);
  s.datagrams.clear();
  REQUIRE(s.run_until([&] { return !s.with<ping_request>().empty(); }, 20s));
  std::set<std::size_t> helpers;
  for (const auto& request : s.with<ping_request>())
    helpers.insert(s.actor_at(request.to));
  CHECK(helpers == std::set<std::size_t>{7, 9});
}

TEST_CASE("a direct ping is repeated while its probe lasts, unless that is switched off",
          "[swim]") {
  const bool repeated = GENERATE(true, false);
  config settings = papers();
  settings.parts.repeated_pings = repeated;
  stage s(1, settings);
  s.silence();
  const stage::sent direct = s.next_ping();
  s.run_to(direct.at + 999ms);
  std::size_t tries = 0;
  for (const auto& sent : s.with<ping>()) {
    tries += std::get<ping>(sent.content.body) == std::get<ping>(direct.content.body);
  }
  CHECK((tries > 1) == repeated);
  CHECK(tries <= 10);
}

TEST_CASE("an unanswered ping opens a stream beside the helpers, whose ack saves the target",
          "[swim]") {
  const bool answered = GENERATE(true, false);
  stage s(9);
  s.silence();
  const stage::sent direct = s.next_ping();
  s.run_to(direct.at + 499ms);
  CHECK(s.streams.empty());
  s.run_to(direct.at + 500ms);
  REQUIRE(s.streams.size() == 1);
  CHECK(s.streams.front().to == direct.to);
  const std::size_t target = s.actor_at(direct.to);
  const auto sequence = std::get<ping>(direct.content.body).sequence;
  if (answered) s.give(stream_received{s.streams.front().stream, s.saying(target, ack{sequence})});
  s.run_to(direct.at + 1001ms);
  CHECK(s.state(target) == (answered ? member_state::alive : member_state::suspect));
  CHECK(s.machine.stats().stream_probes_saved == (answered ? 1 : 0));
}

TEST_CASE("a refused packet ends its probe at once, with a suspicion that says so", "[swim]") {
  const bool by_stream = GENERATE(false, true);
  stage s(9);
  s.silence();
  const stage::sent direct = s.next_ping();
  const std::size_t target = s.actor_at(direct.to);
  s.run_to(direct.at + 501ms);
  CHECK(s.state(target) == member_state::alive);
  if (by_stream)
    s.give(stream_ended{s.streams.front().stream, errc::unreachable});
  else
    s.give(peer_refused{direct.to});
  CHECK(s.state(target) == member_state::suspect);
  CHECK(s.machine.local_health() == 0);  // it says nothing about us
  s.datagrams.clear();
  s.ping_machine(target == 1 ? 2 : 1, 1);
  REQUIRE(s.mentions(target, update_kind::suspect) == 1);
  CHECK(s.with<ack>().front().content.updates.front().refused);
}

TEST_CASE("a refusal outside of a probe makes one, not a suspicion", "[swim]") {
  stage s(9);
  s.run_for(2s);
  s.datagrams.clear();
  s.silence();
  s.give(peer_refused{s.part(7)->address});
  CHECK(s.state(7) == member_state::alive);
  REQUIRE(s.with<ping>().size() == 1);
  CHECK(s.actor_at(s.datagrams.front().to) == 7);
  s.give(peer_refused{*endpoint::parse("10.9.9.9:9")});  // nobody's
  CHECK(s.with<ping>().size() == 1);
}

TEST_CASE("a host that refuses three members' packets gives its process up in a quarter",
          "[swim]") {
  // Ten members of the papers' times: a quarter of 5 s.
  stage s(9);
  s.silent.insert(9);
  const auto start = s.now();
  for (std::size_t by = 1; by <= 3; ++by) {
    update claim = s.suspect(9, by);
    claim.refused = true;
    s.hear(by, claim);
  }
  s.run_to(start + 1249ms);
  CHECK(s.state(9) == member_state::suspect);
  s.run_to(start + 1250ms);
  CHECK(s.state(9) == member_state::failed);
}

TEST_CASE("on a suspicion some others look for themselves at once, all of a small cluster",
          "[swim]") {
  const bool at_once = GENERATE(true, false);
  config settings = papers();
  settings.parts.confirm_at_once = at_once;
  stage s(8, settings);
  s.hear(1, s.suspect(8, 1));
  const auto pings = s.with<ping>();
  REQUIRE(pings.size() == (at_once ? 1 : 0));
  if (at_once) CHECK(s.actor_at(pings.front().to) == 8);
}

TEST_CASE("in a large cluster about eight of all look at once", "[swim]") {
  std::size_t looked = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    stage s(79, papers(), seed);
    s.hear(1, s.suspect(8, 1));
    looked += s.with<ping>().size();
  }
  CHECK(looked > 40 - 30);  // 400 * 8 / 79 = 40.5, and its deviation 6
  CHECK(looked < 40 + 30);
}

TEST_CASE("news of a failure travels in milliseconds, not at the next gossip round", "[swim]") {
  const bool urgent = GENERATE(true, false);
  config settings = papers();
  settings.parts.urgent_gossip = urgent;
  settings.parts.gossip_rounds = urgent;
  stage s(9, settings);
  s.run_for(1500ms);
  s.datagrams.clear();
  s.hear(1, s.failed(9, 1, 3));
  s.run_for(5ms);
  CHECK((s.mentions(9, update_kind::failed) == 3) == urgent);  // gossip_peers
}
