// What a stranger, a sick member or a late copy can do: nothing beyond named limits.
#include <lifering/error.hpp>
#include <limits>
#include <string>

#include "stage.hpp"
#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("an accuser must be a present member, in its present life, and not the subject",
          "[swim][hostile]") {
  stage s(9, papers());
  s.hear(8, s.left(8));
  struct row {
    const char* why;
    std::string accuser;
    std::uint64_t epoch;
  };
  const row rows[] = {
      {"empty", "", 0},
      {"empty with an epoch", "", s.part(1)->epoch},
      {"unknown", "nobody", 7},
      {"the subject itself", "m9", s.part(9)->epoch},
      {"an older life", "m1", s.part(1)->epoch - 1},
      {"a newer life", "m1", s.part(1)->epoch + 1},
      {"one that has left", "m8", s.part(8)->epoch},
  };
  std::uint64_t dropped = 0;
  for (const row& bad : rows) {
    update claim = s.suspect(9, 1);
    claim.accuser = bad.accuser;
    claim.accuser_epoch = bad.epoch;
    s.hear(2, claim);
    CAPTURE(bad.why);
    CHECK(s.state(9) == member_state::alive);
    CHECK(s.machine.stats().dropped_bad_accuser == ++dropped);
  }
  s.hear(2, s.suspect(9, 1));
  CHECK(s.state(9) == member_state::suspect);
}

TEST_CASE("a verdict of fewer than could testify is only their suspicion", "[swim][hostile]") {
  stage s(9, papers());
  s.hear(1, s.failed(9, 1, 2));
  CHECK(s.state(9) == member_state::suspect);
  CHECK(s.count(event_kind::failed) == 0);
  s.hear(1, s.failed(8, 1, 3));
  CHECK(s.state(8) == member_state::failed);
}

TEST_CASE("claims beyond the window of incarnations are refused and counted", "[swim][hostile]") {
  stage s(9, papers());
  const std::uint64_t edge = 1 + incarnation_window;
  const std::uint64_t beyond = edge + 1;
  std::uint64_t dropped = 0;
  for (const std::uint64_t incarnation : {beyond, top}) {
    s.hear(1, s.alive(9, incarnation));
    s.hear(1, s.suspect(9, 1, incarnation));
    s.hear(1, s.failed(9, 1, 9, incarnation));
    CHECK(s.machine.stats().dropped_beyond_window == (dropped += 3));
  }
  view_row row;
  REQUIRE(s.machine.find_member("m9", row));
  CHECK(row.incarnation == 1);
  CHECK(row.state == member_state::alive);
  s.hear(1, s.alive(9, edge));
  REQUIRE(s.machine.find_member("m9", row));
  CHECK(row.incarnation == edge);
}

TEST_CASE("a life beyond the window of epochs is refused, the last one within it is not",
          "[swim][hostile]") {
  stage s(9, papers());
  const auto life = [&](std::uint64_t generation) {
    record said = *s.part(9);
    said.epoch = make_epoch(generation, 9);
    update made;
    made.subject = std::make_shared<const record>(said);
    made.incarnation = said.incarnation;
    return made;
  };
  s.hear(1, life(1 + generation_window + 1));
  s.hear(1, life(generation_of(top)));
  CHECK(s.machine.stats().dropped_beyond_window == 2);
  CHECK(s.count(event_kind::updated) == 0);
  s.hear(1, life(1 + generation_window));
  CHECK(s.count(event_kind::updated, "m9") == 1);
}

TEST_CASE("the top incarnation about ourselves neither evicts us nor burns our incarnations",
          "[swim][hostile]") {
  stage s(9, papers());
  const auto before = s.machine.self();
  s.hear(1, s.suspect(0, 1, top));
  s.hear(1, s.failed(0, 1, 9, top));
  update lie = s.alive(0, top);
  s.hear(1, lie);
  CHECK(s.machine.self() == before);
  CHECK(s.machine.present_members() == 10);
  CHECK(s.machine.stats().dropped_beyond_window == 3);
  s.hear(1, s.failed(0, 1, 9, 1));
  CHECK(s.machine.self()->incarnation == 2);
}

TEST_CASE("a member forged as left takes a new life at once, and its name with it",
          "[swim][hostile]") {
  stage s(9, papers());
  const auto before = s.machine.self()->epoch;
  update lie;
  lie.kind = update_kind::left;
  lie.name = "m0";
  lie.epoch = before;
  lie.incarnation = 1;
  s.hear(1, lie);
  CHECK(s.machine.self()->epoch > before);
  view_row row;
  REQUIRE(s.machine.find_member("m0", row));
  CHECK(row.state == member_state::alive);
  s.ping_machine(2, 1);
  CHECK(s.mentions(0, update_kind::alive) == 1);
}

TEST_CASE("packets about ourselves before we know anybody do no harm", "[swim][hostile]") {
  protocol fresh(papers(), *stage(0).part(0), base::rng(1), curtain);
  stage others(3);
  effects out;
  packet first = others.from(1);
  first.updates = {others.suspect(0, 1), others.failed(0, 1, 9), others.alive(0, 1), others.left(0),
                   others.suspect(0, 0)};
  const auto life = fresh.self()->epoch;
  fresh.handle(curtain, packet_received{others.part(1)->address, first}, out);
  CHECK(fresh.present_members() == 1);
  CHECK(fresh.self()->epoch > life);  // of the grave it was told
  view_row row;
  REQUIRE(fresh.find_member("m0", row));
  CHECK(row.state == member_state::alive);
  CHECK(fresh.self()->name == "m0");
  CHECK(fresh.self()->address == others.part(0)->address);
}

TEST_CASE("a flood of invented members stops at the limit, and real members stay",
          "[swim][hostile]") {
  config settings = papers();
  settings.limits.members = 20;
  stage s(9, settings);
  for (std::size_t actor = 1000; actor < 3000; ++actor)
    s.hear(1, s.alive(actor, 1));
  CHECK(s.machine.present_members() == 20);
  CHECK(s.machine.queued_updates() <= 20);
  CHECK(s.machine.stats().dropped_member_limit == 2000 - 10);
  for (std::size_t actor = 1; actor <= 9; ++actor)
    CHECK(s.state(actor) == member_state::alive);
  s.hear(1, s.alive(1, 2));  // those known are still listened to
  view_row row;
  REQUIRE(s.machine.find_member("m1", row));
  CHECK(row.incarnation == 2);
}

TEST_CASE("a flood of suspicions by one accuser is bounded in each period", "[swim][hostile]") {
  stage s(30, papers());  // 31 members: 16 suspicions in ten probe intervals
  for (std::size_t subject = 2; subject <= 30; ++subject)
    s.hear(1, s.suspect(subject, 1));
  CHECK(s.count(event_kind::suspected) == 16);
  CHECK(s.machine.stats().dropped_accuser_limit == 29 - 16);
  s.hear(2, s.suspect(30, 2));  // another accuser isn't concerned
  CHECK(s.state(30) == member_state::suspect);
  s.run_for(9s);
  s.hear(1, s.suspect(29, 1));
  CHECK(s.state(29) == member_state::alive);
  s.run_for(1001ms);
  s.hear(1, s.suspect(29, 1));
  CHECK(s.state(29) == member_state::suspect);
}

TEST_CASE("copies of one suspicion count once against its accuser", "[swim][hostile]") {
  stage s(30, papers());
  for (int copy = 0; copy < 100; ++copy)
    s.hear(2, s.suspect(9, 1));
  s.hear(2, s.suspect(10, 1));
  CHECK(s.state(10) == member_state::suspect);
  CHECK(s.machine.stats().dropped_accuser_limit == 0);
}

TEST_CASE("late copies of contradicted suspicions aren't held against their accuser",
          "[swim][hostile]") {
  stage s(30);
  s.hear(2, s.suspect(9, 1));
  s.hear(9, s.alive(9, 2));
  for (int copy = 0; copy < 100; ++copy)
    s.hear(3, s.suspect(9, 1));
  s.hear(2, s.suspect(10, 1));
  CHECK(s.state(10) == member_state::suspect);
}

TEST_CASE("suspicions in our own name that we never raised are dropped", "[swim][hostile]") {
  stage s(30);
  for (std::size_t subject = 1; subject <= 30; ++subject)
    s.hear(2, s.suspect(subject, 0));
  CHECK(s.count(event_kind::suspected) == 0);
  CHECK(s.machine.stats().dropped_bad_accuser == 30);
}

TEST_CASE("a failure needs an accuser that is known and not the subject, whatever it claims",
          "[swim][hostile]") {
  stage s(9);
  for (const char* accuser : {"nobody", "", "m9"}) {
    update claim = s.failed(9, 1, 99);
    claim.accuser = accuser;
    s.hear(1, claim);
    CHECK(s.state(9) == member_state::alive);
  }
  CHECK(s.machine.stats().dropped_bad_accuser == 3);
}

TEST_CASE("a life with an epoch out of this world isn't admitted under an unknown name either",
          "[swim][hostile]") {
  stage s(3);
  record said = *s.alive(50, 1).subject;
  for (const std::uint64_t epoch : {top, make_epoch(generation_window + 1, 0)}) {
    said.epoch = epoch;
    update news;
    news.subject = std::make_shared<const record>(said);
    news.incarnation = 1;
    s.hear(1, news);
  }
  CHECK(s.machine.present_members() == 4);
  CHECK(s.machine.stats().dropped_beyond_window == 2);
}

TEST_CASE("packets of another placement are dropped whole", "[swim][hostile]") {
  config settings = papers();
  settings.placement = 5;
  stage s(9, settings);
  packet foreign = s.saying(1, ping{7, "m0", s.machine.self()->epoch});
  foreign.from.placement = 6;
  foreign.updates.push_back(s.left(9));
  s.hear(1, foreign);
  CHECK(s.machine.stats().dropped_wrong_placement == 1);
  CHECK(s.state(9) == member_state::alive);
  CHECK(s.datagrams.empty());
  foreign.from.placement = 5;
  s.hear(1, foreign);
  CHECK(s.state(9) == member_state::left);
  CHECK(s.with<ack>().size() == 1);
}

TEST_CASE("packets that come back from ourselves are dropped whole", "[swim][hostile]") {
  stage s(9, papers());
  packet mirror = s.saying(1, ping{7, "m0", s.machine.self()->epoch});
  mirror.from.name = "m0";
  mirror.from.epoch = s.machine.self()->epoch;
  mirror.updates.push_back(s.left(9));
  s.hear(1, mirror);
  CHECK(s.machine.stats().dropped_from_self == 1);
  CHECK(s.state(9) == member_state::alive);
  CHECK(s.datagrams.empty());

  // On a stream whoever called is told why.
  const auto stream = stream_id{accepted_stream_bit | 1};
  s.give(stream_accepted{stream, s.part(1)->address});
  s.give(stream_received{stream, mirror});
  CHECK(s.machine.stats().dropped_from_self == 2);
  CHECK(s.state(9) == member_state::alive);
  REQUIRE(s.frames.size() == 1);
  const auto* said = std::get_if<refusal>(&s.frames.front().content.body);
  REQUIRE(said);
  CHECK(said->reason == refusal_reason::ourselves);
}

TEST_CASE("a packet without a sender is dropped whole", "[swim][hostile]") {
  stage s(9, papers());
  packet nameless = s.saying(1, ping{7, "m0", s.machine.self()->epoch});
  nameless.from.name.clear();
  s.hear(1, nameless);
  packet lifeless = s.saying(1, ping{7, "m0", s.machine.self()->epoch});
  lifeless.from.epoch = 0;
  s.hear(1, lifeless);
  CHECK(s.machine.stats().dropped_bad_sender == 2);
  CHECK(s.datagrams.empty());
}

TEST_CASE("a ping for another life or another name isn't answered for the dead",
          "[swim][hostile]") {
  stage s(9, papers());
  s.run_for(3s);  // settled
  s.datagrams.clear();
  const auto life = s.machine.self()->epoch;
  s.hear(1, s.saying(1, ping{7, "m5", s.part(5)->epoch}));
  s.hear(1, s.saying(1, ping{8, "m0", life + 1}));
  s.hear(1, s.saying(1, ping{9, "m0", life - 1}));
  CHECK(s.with<ack>().empty());
  CHECK(s.machine.stats().dropped_not_for_us == 3);
  CHECK(s.mentions(0, update_kind::alive) >= 1);  // who means an older life is told of this one
}

TEST_CASE("an older life that still speaks is told of the newer one and not listened to",
          "[swim][hostile]") {
  stage s(9, papers());
  record newer = *s.part(9);
  newer.epoch = make_epoch(2, 1);
  update news;
  news.subject = std::make_shared<const record>(newer);
  news.incarnation = 1;
  s.hear(1, news);
  s.datagrams.clear();
  packet old = s.saying(9, ping{7, "m0", s.machine.self()->epoch});
  old.updates.push_back(s.left(8));
  s.hear(9, old);
  CHECK(s.state(8) == member_state::alive);
  CHECK(s.with<ack>().empty());
  REQUIRE(s.datagrams.size() == 1);
  REQUIRE(s.datagrams.front().content.updates.size() == 1);
  CHECK(s.datagrams.front().content.updates.front().subject_epoch() == newer.epoch);
}

TEST_CASE("late copies of old claims change nothing, in whatever order they come",
          "[swim][hostile]") {
  stage s(9, papers());
  s.hear(1, s.failed(9, 1, 9, 1));
  s.hear(1, s.failed(9, 1, 9, 10));  // the recorded incarnation rises with every evidence
  const std::size_t events = s.events.size();
  const auto copies = [&](std::size_t subject) {
    for (std::uint64_t incarnation = 0; incarnation <= 10; ++incarnation) {
      s.hear(2, s.alive(subject, incarnation));
      s.hear(2, s.suspect(subject, 1, incarnation));
      s.hear(2, s.failed(subject, 1, 9, incarnation));
    }
  };
  copies(9);
  CHECK(s.state(9) == member_state::failed);
  CHECK(s.events.size() == events);
  s.hear(2, s.alive(9, 11));
  CHECK(s.state(9) == member_state::alive);
  copies(9);
  CHECK(s.state(9) == member_state::alive);

  s.hear(1, s.left(8));
  const std::size_t before = s.events.size();
  copies(8);
  s.hear(2, s.alive(8, 1000));
  CHECK(s.state(8) == member_state::left);
  CHECK(s.events.size() == before);
  CHECK(s.machine.stats().dropped_beyond_window == 0);  // they are old, not absurd
}

TEST_CASE("claims about unknown members but alive make no rows", "[swim][hostile]") {
  stage s(9, papers());
  s.hear(1, s.suspect(500, 1));
  s.hear(1, s.failed(500, 1, 9));
  s.hear(1, s.left(500));
  view_row row;
  CHECK_FALSE(s.machine.find_member("m500", row));
  CHECK(s.machine.graves() == 0);
  CHECK(s.machine.queued_updates() == 0);
}

TEST_CASE("what can't be a member is refused", "[swim][hostile]") {
  stage s(2, papers());
  const record good = *s.alive(50, 1).subject;
  std::vector<record> bad(11, good);
  bad[0].name = "";
  bad[1].name.assign(name_max + 1, 'n');
  bad[2].epoch = 0;
  bad[3].incarnation = 0;
  bad[4].address.port = 0;
  bad[5].address = *endpoint::parse("0.0.0.0:1");
  bad[6].address = *endpoint::parse("[::]:1");
  bad[7].address = *endpoint::parse("224.0.0.1:1");
  bad[8].zone.assign(zone_max + 1, 'z');
  bad[9].service.assign(service_max + 1, 's');
  bad[10].metadata.assign(metadata_max + 1, 'd');
  for (const record& said : bad) {
    update news;
    news.subject = std::make_shared<const record>(said);
    news.incarnation = said.incarnation;
    s.hear(1, news);
  }
  update nothing;
  s.hear(1, nothing);
  CHECK(s.machine.present_members() == 3);
  CHECK(s.machine.stats().dropped_bad_record == bad.size());
}

TEST_CASE("probes are relayed for members only, and only so many at once", "[swim][hostile]") {
  stage s(9, papers());
  packet asked = s.saying(1, ping_request{5, "m9", s.part(9)->epoch, s.part(9)->address, 60'000});
  asked.from.name = "stranger";
  s.hear(1, asked);
  CHECK(s.with<ping>().empty());
  s.silence();
  for (std::uint64_t i = 0; i < 2'000; ++i)
    s.hear(1, s.saying(1, ping_request{i, "m9", s.part(9)->epoch, s.part(9)->address, 60'000}));
  CHECK(s.with<ping>().size() == 512);
}

TEST_CASE("frames out of their order are dropped and change nothing", "[swim][hostile]") {
  stage s(9, papers());
  const stream_id stream{accepted_stream_bit | 1};
  s.give(stream_accepted{stream, s.part(1)->address});
  packet rows = s.from(1);
  view_rows view;
  view.rows.push_back({s.part(9), 1, member_state::left});
  view.last = true;
  rows.body = view;
  s.give(stream_received{stream, rows});  // before any request
  CHECK(s.state(9) == member_state::alive);
  CHECK(s.machine.stats().dropped_unexpected_frame == 1);
  s.give(stream_received{stream, s.saying(1, sync_reply{top, {}})});
  s.give(stream_received{stream, s.saying(1, ack{1})});
  s.give(stream_received{stream_id{12345}, rows});  // no such stream
  CHECK(s.state(9) == member_state::alive);
  CHECK(s.machine.self()->epoch == make_epoch(1, 0));
}

TEST_CASE("streams of strangers are bounded", "[swim][hostile]") {
  config settings = papers();
  settings.limits.streams = 8;
  stage s(9, settings);
  for (std::uint64_t i = 0; i < 100; ++i)
    s.give(stream_accepted{stream_id{accepted_stream_bit | i}, s.part(1)->address});
  CHECK(s.machine.stats().dropped_stream_limit == 94);
}

TEST_CASE("views that claim nonsense are compared with nobody's harm", "[swim][hostile]") {
  stage s(40, papers());
  s.run_for(3s);
  s.datagrams.clear();
  for (const std::size_t count : {0u, 1u, 3u, 100u, 128u, 129u, 1000u})
    s.hear(1, s.saying(1, view_compare{std::vector<std::uint64_t>(count, 9)}));
  view_summary summary;
  summary.bucket_count = 128;
  summary.buckets = {0, 127, 128, ~0u};
  summary.names = {1, 2, 3};
  s.hear(1, s.saying(1, summary));  // names without digests
  summary.digests = {1, 2, 3};
  s.hear(1, s.saying(1, summary));
  summary.bucket_count = 0;
  s.hear(1, s.saying(1, summary));
  view_delta delta;
  delta.rows.push_back({nullptr, 1, member_state::alive});
  delta.rows.push_back({s.part(9), 0, member_state::failed});
  delta.wanted.assign(100, 77);
  s.hear(1, s.saying(1, delta));
  CHECK(s.machine.present_members() == 41);
  CHECK(s.count(event_kind::failed) == 0);
  for (int i = 0; i < 1000; ++i)
    s.hear(1, s.saying(1, view_compare{std::vector<std::uint64_t>(128, 9)}));
  CHECK(s.datagrams.size() <= 64 * 8);
}
