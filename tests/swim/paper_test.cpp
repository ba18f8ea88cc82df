// The two papers, sentence by sentence: what SWIM (Das, Gupta, Motivala, DSN 2002) and Lifeguard
// (Dadgar, Phillips, Currey, 2017) say that a member does. Where we do otherwise, the case says so.
//
// The machine runs with the papers' parameters and without what we added to them, unless a case
// needs less still.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "stage.hpp"
#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

config only_swim() {
  config made = only_the_papers();
  made.parts.nacks = made.parts.local_health_probe = made.parts.local_health_suspicion =
      made.parts.buddy = false;
  return made;
}

config basic_swim() {
  config made = only_swim();
  made.parts.suspicion = false;
  return made;
}

}  // namespace

TEST_CASE("SWIM 3.1: in each protocol period a member pings one other member", "[swim][paper]") {
  stage s(9, only_swim());
  s.next_ping();
  s.datagrams.clear();
  s.run_for(100s);
  CHECK(s.datagrams.size() == 100);
  CHECK(s.with<ping>().size() == 100);  // and as all answer, nobody is asked to help
}

TEST_CASE("SWIM 3.1: a member that is pinged answers with an ack", "[swim][paper]") {
  stage s(3, only_swim());
  s.ping_machine(2, 77);
  REQUIRE(s.with<ack>().size() == 1);
  CHECK(s.actor_at(s.datagrams.back().to) == 2);
  CHECK(std::get<ack>(s.datagrams.back().content.body).sequence == 77);
}

TEST_CASE("SWIM 3.1: without an ack in time, k others chosen at random are asked to ping",
          "[swim][paper]") {
  stage s(9, only_swim());
  std::set<std::size_t> chosen;
  for (int round = 0; round < 30; ++round) {
    s.silence();
    s.datagrams.clear();
    const stage::sent direct = s.next_ping();
    s.run_to(direct.at + 499ms);
    CHECK(s.with<ping_request>().empty());
    s.run_to(direct.at + 500ms);
    const auto requests = s.with<ping_request>();
    REQUIRE(requests.size() == 3);
    std::set<std::size_t> helpers;
    for (const auto& request : requests) {
      const auto& body = std::get<ping_request>(request.content.body);
      CHECK(body.target == s.name(s.actor_at(direct.to)));
      CHECK(body.target_address == direct.to);
      CHECK(request.to != direct.to);
      helpers.insert(s.actor_at(request.to));
    }
    CHECK(helpers.size() == 3);
    chosen.insert(helpers.begin(), helpers.end());
    s.silent.clear();
    s.answer_last_ping();
  }
  CHECK(chosen.size() == 9);
}

TEST_CASE("SWIM 3.1: who is asked pings the target and passes its ack on", "[swim][paper]") {
  stage s(4, only_swim());
  s.silent.insert(3);
  s.hear(1, s.saying(1, ping_request{55, "m3", s.part(3)->epoch, s.part(3)->address, 400}));
  REQUIRE(s.with<ping>().size() == 1);
  const auto asked = std::get<ping>(s.datagrams.back().content.body);
  CHECK(s.datagrams.back().to == s.part(3)->address);
  CHECK(asked.target == "m3");
  s.datagrams.clear();
  s.run_for(10ms);
  CHECK(s.with<ack>().empty());
  s.hear(3, s.saying(3, ack{asked.sequence}));
  REQUIRE(s.with<ack>().size() == 1);
  CHECK(s.datagrams.back().to == s.part(1)->address);
  CHECK(std::get<ack>(s.datagrams.back().content.body).sequence == 55);
  s.hear(3, s.saying(3, ack{asked.sequence}));  // a duplicate isn't passed on again
  CHECK(s.with<ack>().size() == 1);
}

TEST_CASE("SWIM 3.1: without any ack by the end of the period the target is declared failed",
          "[swim][paper]") {
  stage s(9, basic_swim());
  s.silence();
  const stage::sent direct = s.next_ping();
  const std::size_t target = s.actor_at(direct.to);
  s.run_to(direct.at + 999ms);
  CHECK(s.state(target) == member_state::alive);
  s.run_to(direct.at + 1s);
  CHECK(s.state(target) == member_state::failed);
  CHECK(s.count(event_kind::failed) == 1);
}

TEST_CASE("SWIM 3.1: an ack through any helper is as good as a direct one", "[swim][paper]") {
  stage s(9, basic_swim());
  s.silence();
  const stage::sent direct = s.next_ping();
  s.run_to(direct.at + 990ms);
  const auto request = s.with<ping_request>().back();
  s.hear(
      s.actor_at(request.to),
      s.saying(s.actor_at(request.to), ack{std::get<ping_request>(request.content.body).sequence}));
  s.run_to(direct.at + 1500ms);
  CHECK(s.state(s.actor_at(direct.to)) == member_state::alive);
}

TEST_CASE("SWIM 3.1: sequence numbers tell periods apart; an ack of another one counts nothing",
          "[swim][paper]") {
  stage s(1, basic_swim());
  s.silence();
  const auto first = std::get<ping>(s.next_ping().content.body);
  s.hear(1, s.saying(1, ack{first.sequence - 1}));
  s.hear(1, s.saying(1, ack{first.sequence + 1'000}));
  CHECK(s.machine.stats().dropped_unknown_sequence == 2);
  s.run_for(1s);
  CHECK(s.state(1) == member_state::failed);
}

TEST_CASE("SWIM 4.1: news rides on pings, ping requests and acks, and needs no packet of its own",
          "[swim][paper]") {
  stage s(8, only_swim());
  s.silence();
  s.hear(1, s.alive(20, 1));
  s.ping_machine(2, 1);
  const stage::sent direct = s.next_ping();
  s.run_to(direct.at + 500ms);
  CHECK(stage::mentions(s.with<ack>().front().content, "m20", update_kind::alive) == 1);
  CHECK(stage::mentions(direct.content, "m20", update_kind::alive) == 1);
  CHECK(stage::mentions(s.with<ping_request>().front().content, "m20", update_kind::alive) == 1);
  for (const auto& sent : s.datagrams)
    CHECK_FALSE(std::holds_alternative<std::monostate>(sent.content.body));
}

TEST_CASE("SWIM 4.1: each update is piggybacked lambda log n times at most", "[swim][paper]") {
  const auto [others, times] =
      GENERATE(table<std::size_t, std::size_t>({{7, 4}, {8, 8}, {98, 12}}));
  stage s(others, only_swim());  // and "m20" or "m200" makes it others + 2
  s.hear(1, s.alive(200, 1));
  for (std::uint64_t i = 0; i < 50; ++i)
    s.ping_machine(2, i + 1);
  CHECK(s.mentions(200, update_kind::alive) == times);
  CHECK(s.machine.queued_updates() == 0);
}

TEST_CASE("SWIM 4.1: of two updates the one sent less often goes first", "[swim][paper]") {
  config small = only_swim();
  small.datagram_budget = 200;  // room for the ack and two updates
  stage s(8, small);
  for (std::size_t actor = 20; actor < 30; ++actor)
    s.hear(1, s.alive(actor, 1));
  std::map<std::string, int> sent;
  for (std::uint64_t i = 0; i < 10; ++i) {
    s.ping_machine(2, i + 1);
    REQUIRE_FALSE(s.datagrams.back().content.updates.empty());
    for (const update& u : s.datagrams.back().content.updates)
      ++sent[std::string(u.subject_name())];
    if (sent.size() < 10) {
      for (const auto& [name, times] : sent)
        CHECK(times == 1);
    }
  }
  CHECK(sent.size() == 10);
}

TEST_CASE("SWIM 4.2: a failed probe makes a suspicion, not a failure, and it is spread",
          "[swim][paper]") {
  stage s(9, only_swim());
  s.silence();
  const stage::sent direct = s.next_ping();
  const std::size_t target = s.actor_at(direct.to);
  s.run_to(direct.at + 999ms);
  CHECK(s.state(target) == member_state::alive);
  s.run_to(direct.at + 1s);
  CHECK(s.state(target) == member_state::suspect);
  CHECK(s.count(event_kind::suspected, s.name(target)) == 1);
  s.datagrams.clear();
  s.ping_machine(target == 1 ? 2 : 1, 1);
  REQUIRE(s.mentions(target, update_kind::suspect) == 1);
  CHECK(s.with<ack>().back().content.updates.front().accuser == "m0");
}

TEST_CASE("SWIM 4.2: one that is suspected elsewhere is suspected here, and passed on",
          "[swim][paper]") {
  stage s(9, only_swim());
  s.hear(1, s.suspect(9, 1));
  CHECK(s.state(9) == member_state::suspect);
  s.ping_machine(2, 1);
  REQUIRE(s.mentions(9, update_kind::suspect) == 1);
  CHECK(s.with<ack>().back().content.updates.front().accuser == "m1");
}

TEST_CASE("SWIM 4.2: a suspected member is treated as a present one where probes are concerned",
          "[swim][paper]") {
  stage s(9, only_the_papers());
  s.hear(1, s.suspect(9, 1));
  s.run_for(18s);  // two rounds; the suspicion lasts 30 s
  REQUIRE(s.state(9) == member_state::suspect);
  const auto pings = s.with<ping>();
  CHECK(std::count_if(pings.begin(), pings.end(),
                      [&](const auto& p) { return s.actor_at(p.to) == 9; }) == 2);
}

TEST_CASE("SWIM 4.2: a suspicion that lasts for its timeout becomes a failure, which is spread",
          "[swim][paper]") {
  stage s(9, only_swim());  // ten members: 5 * log10(10) * 1 s
  s.hear(1, s.suspect(9, 1));
  const auto start = s.now();
  s.run_to(start + 4999ms);
  CHECK(s.state(9) == member_state::suspect);
  s.run_to(start + 5s);
  CHECK(s.state(9) == member_state::failed);
  s.datagrams.clear();
  s.ping_machine(2, 1);
  CHECK(s.mentions(9, update_kind::failed) == 1);
}

TEST_CASE("SWIM 4.2: only a member itself raises its incarnation, when it hears itself suspected",
          "[swim][paper]") {
  stage s(9, only_swim());
  CHECK(s.machine.self()->incarnation == 1);
  s.hear(1, s.suspect(0, 1, 1));
  CHECK(s.machine.self()->incarnation == 2);
  s.ping_machine(2, 1);
  REQUIRE(s.mentions(0, update_kind::alive) == 1);
  CHECK(s.with<ack>().back().content.updates.front().subject->incarnation == 2);
  // About others it only repeats what they say.
  s.hear(1, s.suspect(9, 1));
  view_row row;
  REQUIRE(s.machine.find_member("m9", row));
  CHECK(row.subject->incarnation == 1);
}

TEST_CASE("SWIM 4.2: a suspicion of an incarnation that is past raises nothing", "[swim][paper]") {
  stage s(9, only_swim());
  s.hear(1, s.suspect(0, 1, 1));
  for (std::size_t by = 1; by < 9; ++by)
    s.hear(by, s.suspect(0, by, 1));
  CHECK(s.machine.self()->incarnation == 2);
  CHECK(s.machine.stats().dropped_beyond_window == 0);
  s.hear(1, s.suspect(0, 1, 2));
  CHECK(s.machine.self()->incarnation == 3);
}

TEST_CASE("SWIM 4.2: alive overrides suspect of lower incarnations, never of its own",
          "[swim][paper]") {
  stage s(9, only_swim());
  s.hear(1, s.suspect(9, 1, 4));
  s.hear(1, s.alive(9, 4));
  CHECK(s.state(9) == member_state::suspect);
  s.hear(1, s.alive(9, 5));
  CHECK(s.state(9) == member_state::alive);
  CHECK(s.count(event_kind::recovered, "m9") == 1);
  s.hear(1, s.suspect(9, 1, 4));
  CHECK(s.state(9) == member_state::alive);
  s.hear(1, s.suspect(9, 1, 5));
  CHECK(s.state(9) == member_state::suspect);
}

TEST_CASE("SWIM 4.2, otherwise: an ack alone doesn't lift a suspicion, a contradiction does",
          "[swim][paper]") {
  // The paper lets whoever gets an ack spread "alive"; with incarnations only the subject can.
  stage s(9, only_the_papers());
  s.hear(1, s.suspect(9, 1));
  s.run_for(20s);
  CHECK(s.state(9) == member_state::suspect);
  s.hear(9, s.alive(9, 2));
  CHECK(s.state(9) == member_state::alive);
}

TEST_CASE("SWIM 4.2, otherwise: a failure overrides its own incarnation, not every one",
          "[swim][paper]") {
  // In the paper a failure is final. Ours must heal after partitions.
  stage s(9, only_swim());
  s.hear(1, s.failed(9, 1, 3, 4));
  s.hear(1, s.alive(9, 4));
  s.hear(1, s.suspect(9, 1, 4));
  CHECK(s.state(9) == member_state::failed);
  s.hear(1, s.alive(9, 5));
  CHECK(s.state(9) == member_state::alive);
  CHECK(s.count(event_kind::joined, "m9") == 1);
}

TEST_CASE("SWIM 4.3: members are probed round robin, each once a round, in a new order each round",
          "[swim][paper]") {
  stage s(9, only_swim());
  std::set<std::vector<std::size_t>> orders;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::size_t> order;
    for (int i = 0; i < 9; ++i)
      order.push_back(s.actor_at(s.next_ping().to));
    CHECK(std::set<std::size_t>(order.begin(), order.end()).size() == 9);
    orders.insert(order);
  }
  CHECK(orders.size() == 5);
}

TEST_CASE("SWIM 4.3: a crash is noticed after 2n - 1 periods at the latest", "[swim][paper]") {
  const auto seed = GENERATE(range(1u, 21u));
  stage s(9, only_swim(), seed);
  s.run_for(std::chrono::seconds(10 + seed));
  s.silent.insert(4);
  CHECK(s.run_until([&] { return s.state(4) == member_state::suspect; }, 17s + 1s));
}

TEST_CASE("Lifeguard IV-A: a helper that has no ack at 80 % of the timeout says so",
          "[swim][paper]") {
  stage s(4, only_the_papers());
  s.silent.insert(3);
  const auto asked = s.now();
  s.hear(1, s.saying(1, ping_request{55, "m3", s.part(3)->epoch, s.part(3)->address, 500}));
  s.run_to(asked + 399ms);
  CHECK(s.with<nack>().empty());
  s.run_to(asked + 400ms);
  REQUIRE(s.with<nack>().size() == 1);
  CHECK(s.with<nack>().front().to == s.part(1)->address);
  CHECK(std::get<nack>(s.with<nack>().front().content.body).sequence == 55);
  s.run_for(5s);
  CHECK(s.with<nack>().size() == 1);
}

TEST_CASE("Lifeguard IV-A: no nack follows an ack", "[swim][paper]") {
  stage s(4, only_the_papers());
  s.hear(1, s.saying(1, ping_request{55, "m3", s.part(3)->epoch, s.part(3)->address, 500}));
  s.run_for(5s);
  CHECK(s.with<ack>().size() == 1);
  CHECK(s.with<nack>().empty());
}

TEST_CASE("Lifeguard IV-A: each missed nack adds one to the local health score, an ack takes one",
          "[swim][paper]") {
  const unsigned nacks = GENERATE(0u, 1u, 2u, 3u);
  const bool also_the_probe = GENERATE(false, true);  // the paper's "failed probe: +1"
  config settings = only_the_papers();
  settings.parts.failed_probe_always_counts = also_the_probe;
  stage s(9, settings);
  s.silence();
  const stage::sent direct = s.next_ping();
  s.run_to(direct.at + 600ms);
  const auto requests = s.with<ping_request>();
  REQUIRE(requests.size() == 3);
  for (unsigned i = 0; i < nacks; ++i) {
    const auto& body = std::get<ping_request>(requests[i].content.body);
    s.hear(s.actor_at(requests[i].to), s.saying(s.actor_at(requests[i].to), nack{body.sequence}));
  }
  s.run_to(direct.at + 999ms);
  CHECK(s.machine.local_health() == 0);
  s.run_to(direct.at + 1s);
  const unsigned score = 3 - nacks + (also_the_probe ? 1 : 0);
  CHECK(s.machine.local_health() == score);
  s.silent.clear();
  if (score > 0) {
    s.answer_last_ping();  // the next probe began at that moment
    CHECK(s.machine.local_health() == score - 1);
  }
}

TEST_CASE("Lifeguard IV-A: to contradict a suspicion adds one to the score", "[swim][paper]") {
  stage s(9, only_the_papers());
  s.hear(1, s.suspect(0, 1, 1));
  CHECK(s.machine.local_health() == 1);
  s.hear(2, s.suspect(0, 2, 1));  // contradicted already
  CHECK(s.machine.local_health() == 1);
}

TEST_CASE("Lifeguard IV-A: interval and timeout are multiplied by the score plus one, up to nine",
          "[swim][paper]") {
  const unsigned score = GENERATE(0u, 1u, 3u, 8u, 20u);
  stage s(9, only_the_papers());
  s.silence();
  for (unsigned i = 0; i < score; ++i)
    s.hear(1, s.suspect(0, 1, i + 1));  // each is contradicted
  REQUIRE(s.machine.local_health() == std::min(score, 8u));
  const std::int64_t factor = std::min(score, 8u) + 1;
  const stage::sent direct = s.next_ping();
  s.run_to(direct.at + 500ms * factor - 1ms);
  CHECK(s.with<ping_request>().empty());
  s.run_to(direct.at + 500ms * factor);
  CHECK(s.with<ping_request>().size() == 3);
  s.run_to(direct.at + 1s * factor - 1ms);
  CHECK(s.with<ping>().size() == 1);
  s.run_to(direct.at + 1s * factor);
  CHECK(s.with<ping>().size() == 2);
}

TEST_CASE("Lifeguard IV-B: a suspicion starts long and is cut by each independent confirmation",
          "[swim][paper]") {
  // Ten members, alpha 5, beta 6, K 3: 5 s to 30 s, less 0, .5, .7925, 1 of the difference.
  const auto [confirmations, before, after] =
      GENERATE(table<std::size_t, std::chrono::milliseconds, std::chrono::milliseconds>(
          {{0, 29'999ms, 30'000ms},
           {1, 17'499ms, 17'500ms},
           {2, 10'187ms, 10'189ms},
           {3, 4'999ms, 5'000ms},
           {5, 4'999ms, 5'000ms}}));
  stage s(9, only_the_papers());
  const auto start = s.now();
  s.hear(1, s.suspect(9, 1));
  s.run_for(3s);  // a later confirmation cuts from the start of the suspicion all the same
  for (std::size_t by = 2; by <= 1 + confirmations; ++by)
    s.hear(by, s.suspect(9, by));
  s.run_to(start + before);
  CHECK(s.state(9) == member_state::suspect);
  s.run_to(start + after);
  CHECK(s.state(9) == member_state::failed);
}

TEST_CASE("Lifeguard IV-B: copies of one accusation are no confirmation", "[swim][paper]") {
  stage s(9, only_the_papers());
  const auto start = s.now();
  for (std::size_t by = 1; by <= 8; ++by)  // told by all, raised by one
    s.hear(by, s.suspect(9, 1));
  s.run_to(start + 29'999ms);
  CHECK(s.state(9) == member_state::suspect);
  CHECK(s.machine.stats().suspicions_confirmed == 0);
}

TEST_CASE("Lifeguard IV-B: the first K confirmations are passed on, later ones aren't",
          "[swim][paper]") {
  stage s(9, only_the_papers());
  for (std::size_t by = 1; by <= 6; ++by)
    s.hear(by, s.suspect(9, by));
  s.drain(7);
  std::set<std::string> accusers;
  for (const auto& sent : s.with<ack>()) {
    for (const update& u : sent.content.updates)
      accusers.insert(u.accuser);
  }
  CHECK(accusers == std::set<std::string>{"m1", "m2", "m3", "m4"});
}

TEST_CASE("Lifeguard IV-B: Min is alpha log10(n) probe intervals, Max is beta times that",
          "[swim][paper]") {
  const bool confirmed = GENERATE(false, true);
  stage s(127, only_the_papers());  // 5 * 2.107 * 1 s = 10.535 s
  const auto start = s.now();
  for (std::size_t by = 1; by <= (confirmed ? 4u : 1u); ++by)
    s.hear(by, s.suspect(9, by));
  const base::duration expected = confirmed ? 10'535ms : 63'210ms;
  s.run_to(start + expected - 1ms);
  CHECK(s.state(9) == member_state::suspect);
  s.run_to(start + expected);
  CHECK(s.state(9) == member_state::failed);
}

TEST_CASE("Lifeguard IV-C: every ping to a suspected member tells it so first, gossiped out or not",
          "[swim][paper]") {
  const bool buddy = GENERATE(true, false);
  config settings = only_the_papers();
  settings.parts.buddy = buddy;
  stage s(9, settings);
  s.hear(1, s.suspect(9, 1));
  s.drain(2);
  s.datagrams.clear();
  s.run_for(20s);
  std::size_t pings = 0, told = 0;
  for (const auto& sent : s.with<ping>()) {
    if (s.actor_at(sent.to) != 9) continue;
    ++pings;
    const auto& updates = sent.content.updates;
    told += !updates.empty() && updates.front().kind == update_kind::suspect &&
            updates.front().subject_name() == "m9" && updates.front().incarnation == 1;
  }
  CHECK(pings >= 2);
  CHECK(told == (buddy ? pings : 0));
}

TEST_CASE("Lifeguard IV-C: a ping on behalf of another tells a suspected target as well",
          "[swim][paper]") {
  stage s(9, only_the_papers());
  s.hear(1, s.suspect(9, 1));
  s.drain(2);
  s.datagrams.clear();
  s.hear(3, s.saying(3, ping_request{55, "m9", s.part(9)->epoch, s.part(9)->address, 500}));
  REQUIRE(s.with<ping>().size() == 1);
  const auto updates = s.with<ping>().front().content.updates;
  REQUIRE_FALSE(updates.empty());
  CHECK(updates.front().kind == update_kind::suspect);
  CHECK(updates.front().subject_name() == "m9");
}
