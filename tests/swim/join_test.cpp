// Joining and leaving, as the machine on the other side sees it: who is refused and why, and what
// counts as an acknowledged leave.
#include <lifering/error.hpp>
#include <set>

#include "stage.hpp"
#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

constexpr stream_id stream{accepted_stream_bit | 1};

/// A stream on which that actor asks for our view; what the machine answers is in `frames`.
void ask(stage& s, std::size_t actor, std::uint64_t epoch, sync_request request) {
  s.frames.clear();
  packet asked = s.saying(actor, request);
  asked.from.epoch = epoch;
  s.give(stream_accepted{stream, s.part(actor)->address});
  s.give(stream_received{stream, asked});
  view_rows none;
  none.last = true;
  asked.body = none;
  s.give(stream_received{stream, asked});
}

/// Has the machine join through a seed; returns the stream that it opens there.
stream_id join_through_seed(stage& s) {
  const endpoint seed = endpoint::v4({10, 0, 0, 9}, 7946);
  s.streams.clear();
  s.give(join_command{command_id{1}, {seed.to_string()}, 4s});
  s.give(seed_resolved{seed.to_string(), {seed}, {}});
  REQUIRE(s.streams.size() == 1);
  return s.streams.front().stream;
}

const refusal* refused(const stage& s) {
  return s.frames.empty() ? nullptr : std::get_if<refusal>(&s.frames.front().content.body);
}

}  // namespace

TEST_CASE("an older life that had settled is refused its name, and told where it went", "[swim]") {
  stage s(3);
  const auto held = s.part(2)->epoch;
  ask(s, 2, held - 1, {true, false});
  REQUIRE(refused(s));
  CHECK(refused(s)->reason == refusal_reason::name_in_use);
  CHECK(refused(s)->detail.find(s.part(2)->address.to_string()) != std::string::npos);
}

TEST_CASE("a new process is told which life of its name is remembered, present or gone", "[swim]") {
  const bool gone = GENERATE(false, true);
  stage s(3);
  if (gone) s.hear(1, s.failed(2, 1, 3));
  const auto held = s.part(2)->epoch;
  ask(s, 2, held - 1, {true, true});
  REQUIRE_FALSE(s.frames.empty());
  const auto* reply = std::get_if<sync_reply>(&s.frames.front().content.body);
  REQUIRE(reply);
  CHECK(reply->remembered_epoch == held);
}

TEST_CASE("a join is refused when the cluster is full, and by who is leaving", "[swim]") {
  config settings = papers();
  settings.limits.members = 4;
  stage full(3, settings);
  full.hear(1, full.alive(1, 2));
  packet asked = full.from(1);
  asked.from.name = "newcomer";
  asked.body = sync_request{true, true};
  full.give(stream_accepted{stream, full.part(1)->address});
  full.give(stream_received{stream, asked});
  REQUIRE(refused(full));
  CHECK(refused(full)->reason == refusal_reason::too_many_members);

  stage leaving(3);
  leaving.silence();
  leaving.give(leave_command{command_id{1}, 5s});
  ask(leaving, 2, leaving.part(2)->epoch, {false, false});
  REQUIRE(refused(leaving));
  CHECK(refused(leaving)->reason == refusal_reason::busy);
}

TEST_CASE("a newcomer whose address leads nowhere from here is refused with a reason, not admitted",
          "[swim]") {
  const auto [address, why] =
      GENERATE(table<std::string, std::string>({{"0.0.0.0:7946", "unspecified"},
                                                {"[ff02::1]:7946", "multicast"},
                                                {"127.0.0.1:7946", "loopback"},
                                                {"[::1]:7946", "loopback"},
                                                {"10.0.0.77:0", "no port"}}));
  stage s(3);
  record life = *s.part(1);
  life.name = "newcomer";
  life.address = endpoint::parse(address).value_or(endpoint::v4({10, 0, 0, 77}, 0));
  packet asked = s.from(1);
  asked.from.name = life.name;
  asked.body = sync_request{true, true};
  s.give(stream_accepted{stream, *endpoint::parse("10.0.0.77:50000")});
  s.give(stream_received{stream, asked});
  view_rows own;
  own.rows.push_back({std::make_shared<const record>(life), life.incarnation, member_state::alive});
  own.last = true;
  asked.from.epoch = life.epoch;
  asked.body = own;
  s.give(stream_received{stream, asked});
  view_row row;
  CHECK_FALSE(s.machine.find_member("newcomer", row));
  REQUIRE(refused(s));
  CHECK(refused(s)->reason == refusal_reason::invalid_member);
  CHECK(refused(s)->detail.find(life.address.to_string()) != std::string::npos);
  CHECK(refused(s)->detail.find(why) != std::string::npos);
}

TEST_CASE("a join that is refused for our address fails for that reason", "[swim]") {
  stage s(1);
  s.streams.clear();
  s.give(join_command{command_id{1}, {"10.0.0.9:7946"}, 4s});
  s.give(seed_resolved{"10.0.0.9:7946", {*endpoint::parse("10.0.0.9:7946")}, {}});
  REQUIRE(s.streams.size() == 1);
  const refusal no{refusal_reason::invalid_member, "we can't reach 127.0.0.1:7946"};
  s.give(stream_received{s.streams.front().stream, s.saying(1, no)});
  REQUIRE(s.done.size() == 1);
  CHECK(s.done.front().error == errc::invalid_address);
  CHECK(s.done.front().detail.find("can't reach") != std::string::npos);
}

TEST_CASE("a restarted process joins without a refusal, whatever its first guess of an epoch",
          "[swim]") {
  const auto seed = GENERATE(range(1u, 9u));  // half of the guesses are below the life before
  village v(4, {}, seed);
  v.form();
  v.crash(3);
  v.restart(3);
  v.at(3).done.clear();
  v.join(3, 0);
  REQUIRE(v.run_until([&] { return !v.at(3).done.empty(); }, 5s));
  CHECK_FALSE(v.at(3).done.front().error);
  REQUIRE(v.run_until([&] { return v.all_see(4) && v.same_view(); }, 2s));
}

TEST_CASE("a leave counts each peer once, however often it acknowledges", "[swim]") {
  stage s(9);
  s.run_for(2s);
  s.silence();
  s.datagrams.clear();
  s.give(leave_command{command_id{1}, 20s});
  std::set<std::size_t> acknowledged;
  for (int round = 0; round < 400 && s.done.empty(); ++round) {
    // Two of nine answer, twice each time.
    const auto pings = s.with<ping>();
    s.datagrams.clear();
    for (const auto& sent : pings) {
      const std::size_t peer = s.actor_at(sent.to);
      if (peer > 2 || sent.content.updates.empty()) continue;
      acknowledged.insert(peer);
      for (int twice = 0; twice < 2; ++twice)
        s.hear(peer, s.saying(peer, ack{std::get<ping>(sent.content.body).sequence}));
    }
    s.run_for(100ms);
  }
  CHECK(acknowledged.size() == 2);
  REQUIRE(s.done.size() == 1);
  CHECK(s.done.front().error == errc::timed_out);
  CHECK(s.done.front().count == 2);
}

TEST_CASE("a leave ends at its deadline, not before, when nobody answers", "[swim]") {
  stage s(9);
  s.run_for(2s);
  s.silence();
  const auto start = s.now();
  s.give(leave_command{command_id{1}, 3s});
  s.run_to(start + 2999ms);
  CHECK(s.done.empty());
  s.run_to(start + 3s);
  REQUIRE(s.done.size() == 1);
  CHECK(s.done.front().error == errc::timed_out);
  CHECK(s.done.front().count == 0);
  CHECK(s.machine.next_deadline() == base::never);
}

TEST_CASE("a join without a seed that answers fails at its deadline, with a reason", "[swim]") {
  stage s(0);
  const auto start = s.now();
  s.give(join_command{command_id{1}, {"10.0.0.9:7946", "nowhere"}, 4s});
  REQUIRE(s.resolving.size() == 2);
  s.give(seed_resolved{"10.0.0.9:7946", {*endpoint::parse("10.0.0.9:7946")}, {}});
  s.give(seed_resolved{"nowhere", {}, errc::unreachable});
  s.run_to(start + 3999ms);
  CHECK(s.done.empty());
  s.run_to(start + 4s);
  REQUIRE(s.done.size() == 1);
  CHECK(s.done.front().error == errc::no_seed_answered);
  CHECK(s.done.front().lookups.starts_with("seed nowhere: "));
  CHECK(s.done.front().detail == "10.0.0.9:7946: no answer in time");
}

TEST_CASE("a join whose seeds are still being looked up at its deadline says so", "[swim]") {
  stage s(0);
  s.give(join_command{command_id{1}, {"slow.example.com"}, 4s});
  s.run_for(4s);
  REQUIRE(s.done.size() == 1);
  CHECK(s.done.front().error == errc::no_seed_answered);
  CHECK(s.done.front().detail == "their addresses are not known yet");
}

TEST_CASE(
    "a joiner asks the members that it has heard of too, while its seed's answer is on its way",
    "[swim]") {
  // Where four packets of ten are lost, a view that only the seed tells is slow to come.
  config settings = papers();
  settings.parts.push_pull = settings.parts.heal = false;
  stage s(8, settings);
  s.silence();
  s.give(join_command{command_id{1}, {"10.9.9.9:7946"}, 30s});
  s.give(seed_resolved{"10.9.9.9:7946", {endpoint::v4({10, 9, 9, 9}, 7946)}, {}});
  s.datagrams.clear();
  s.run_for(3s);
  std::set<std::string> asked;
  for (const auto& sent : s.with<view_compare>())
    asked.insert(sent.to.to_string());
  CHECK(asked.contains("10.9.9.9:7946"));
  CHECK(asked.size() >= 3);
}

TEST_CASE("a join can be cancelled, and only one is under way at a time", "[swim]") {
  stage s(0);
  s.give(join_command{command_id{1}, {"10.0.0.9:7946"}, 4s});
  s.give(join_command{command_id{2}, {"10.0.0.8:7946"}, 4s});
  REQUIRE(s.done.size() == 1);
  CHECK(s.done.back().command == command_id{2});
  CHECK(s.done.back().error == errc::busy);
  s.give(cancel_command{command_id{7}});
  CHECK(s.done.size() == 1);
  s.give(cancel_command{command_id{1}});
  REQUIRE(s.done.size() == 2);
  CHECK(s.done.back().command == command_id{1});
  CHECK(s.done.back().error == errc::canceled);
}

TEST_CASE("a seed that turns out to be ourselves is none, and who has no other begins alone",
          "[swim]") {
  const bool has_another = GENERATE(false, true);
  village v(2);
  const std::string alias = "192.0.2.7:7946";  // As behind a router that translates addresses.
  v.holder = [&](const endpoint& address) {
    return address == *endpoint::parse(alias) ? std::size_t{0} : v.size();
  };
  join_command asked{command_id{50}, {alias}, 10s};
  if (has_another) asked.seeds.push_back(v.at(1).address.to_string());
  v.command(0, asked);
  REQUIRE(v.run_until([&] { return !v.at(0).done.empty(); }, 100ms));
  CHECK_FALSE(v.at(0).done.front().error);
  CHECK(v.at(0).done.front().count == (has_another ? 1 : 0));
  CHECK(v.at(0).done.front().detail.empty());
  CHECK(v.machine(0).present_members() == (has_another ? 2 : 1));
}

TEST_CASE("only a seed's whole view ends a join, not whatever else it may say", "[swim]") {
  stage s(1);
  const stream_id to_seed = join_through_seed(s);
  const auto says = [&](const body& said) { s.give(stream_received{to_seed, s.saying(1, said)}); };
  says(ack{0});
  says(metadata_push{0, ""});
  says(view_rows{{}, true});  // before the reply
  says(sync_reply{});
  says(view_rows{{}, false});
  says(sync_reply{});
  CHECK(s.done.empty());
  says(view_rows{{}, true});
  REQUIRE(s.done.size() == 1);
  CHECK_FALSE(s.done.front().error);
}

TEST_CASE("another's word that it is ourselves is no answer of a seed", "[swim]") {
  stage s(1);
  const stream_id to_seed = join_through_seed(s);
  const refusal lie{refusal_reason::ourselves, "you are me"};
  s.give(stream_received{to_seed, s.saying(1, lie)});
  REQUIRE(s.done.size() == 1);
  CHECK(s.done.front().error == errc::no_seed_answered);
  CHECK(s.done.front().detail == "10.0.0.9:7946: you are me");
}

TEST_CASE("a good seed behind more silent ones than are called at once is no wait", "[swim]") {
  const int silent = GENERATE(31, 32, 40, 100);
  village v(2);
  join_command asked{command_id{50}, {}, 10s};
  for (int i = 1; i <= silent; ++i)
    asked.seeds.push_back("192.0.2." + std::to_string(i) + ":7946");
  asked.seeds.push_back(v.at(0).address.to_string());
  v.command(1, asked);
  REQUIRE(v.run_until([&] { return !v.at(1).done.empty(); }, 2s));
  CHECK_FALSE(v.at(1).done.front().error);
  CHECK(v.all_see(2));
}
