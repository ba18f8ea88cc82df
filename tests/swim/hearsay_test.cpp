// Whom others tell of: a member is believed, a stranger isn't.
#include <algorithm>

#include "newcomer.hpp"
#include "stage.hpp"
#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

TEST_CASE("of whom a stranger tells must answer, and whom a member tells of needn't", "[swim]") {
  stage s = quiet_stage();
  const record other = newcomer("other", "10.0.0.78:7946");
  const update news = news_of(other);
  packet said = said_by(s, newcomer());
  said.updates = {news};
  s.datagrams.clear();
  s.give(packet_received{newcomer().address, said});
  CHECK(s.events.empty());
  CHECK(pings_for(s, other).size() == 1);
  const bool by_member = GENERATE(true, false);
  if (by_member) {
    s.hear(2, news);
  } else {  // Or it shows that it holds a key.
    s.give(packet_received{newcomer().address, said, true});
  }
  CHECK(s.count(event_kind::joined, "other") == 1);
}

TEST_CASE("the life after a member's is a stranger until it is admitted", "[swim]") {
  stage s = quiet_stage();
  record next = newcomer();
  next.name = s.part(2)->name;
  next.epoch = make_epoch(2, 1);
  const record other = newcomer("other", "10.0.0.78:7946");
  packet said = said_by(s, next);
  said.updates.push_back(news_of(other));
  s.give(packet_received{next.address, said});
  CHECK(s.events.empty());
}

TEST_CASE("a stranger who invents members has few addresses asked, and none is let in", "[swim]") {
  stage s = quiet_stage();
  s.datagrams.clear();
  std::size_t asked = 0;
  for (int i = 0; i < 1000; ++i) {
    const record made = newcomer("ghost-" + std::to_string(i), "10.0.0.78:7946");
    packet said = said_by(s, newcomer());
    said.updates.push_back(news_of(made));
    s.give(packet_received{newcomer().address, said});
    asked += pings_for(s, made).size();
  }
  CHECK(asked == 64);
  CHECK(s.machine.stats().dropped_bad_sender == 1000 - 64);
  CHECK(s.events.empty());
}

TEST_CASE("of whom a stranger tells isn't asked if it can't be a member, or is asked already",
          "[swim]") {
  stage s = quiet_stage();
  record other = newcomer("other", "10.0.0.78:7946");
  const bool is_asked = GENERATE(false, true);
  if (is_asked) {
    knock_by_stream(s, other);
    REQUIRE(pings_for(s, other).size() == 1);
  } else {
    other.address = endpoint::v4({224, 0, 0, 1}, 7946);  // A group's.
  }
  packet said = said_by(s, newcomer());
  said.updates.push_back(news_of(other));
  s.datagrams.clear();
  s.give(packet_received{newcomer().address, said});
  CHECK(pings_for(s, other).empty());
  CHECK(s.machine.stats().dropped_bad_sender == (is_asked ? 0 : 1));
}

TEST_CASE("on a stream nobody is told of in gossip but who speaks", "[swim]") {
  stage s = quiet_stage();
  const record other = newcomer("other", "10.0.0.78:7946");
  knock_by_stream(s, newcomer());
  s.datagrams.clear();
  packet said = said_by(s, newcomer());
  said.updates.push_back(news_of(other));
  s.give(stream_received{stream, said});
  CHECK(s.events.empty());
  CHECK(pings_for(s, other).empty());
  CHECK(s.machine.stats().dropped_bad_sender == 1);
}

TEST_CASE("who answers our knock is let in by that, and is believed about others at once",
          "[swim]") {
  stage s = quiet_stage();
  s.silence();
  const record seed = newcomer("seed", "10.0.0.78:7946");
  const record other = newcomer("other", "10.0.0.79:7946");
  s.give(join_command{command_id{1}, {"seed"}, 60s});
  s.give(seed_resolved{"seed", {seed.address}, {}});
  const auto has_knocked = [&] {
    const auto knocks = s.with<view_compare>();
    return std::any_of(knocks.begin(), knocks.end(),
                       [&](const auto& each) { return each.to == seed.address; });
  };
  REQUIRE(s.run_until(has_knocked, 20s));
  packet told = said_by(s, seed);
  told.body = view_summary{};
  told.updates = {news_of(seed), news_of(other)};
  s.give(packet_received{seed.address, told});
  CHECK(s.count(event_kind::joined, "seed") == 1);
  CHECK(s.count(event_kind::joined, "other") == 1);
}
