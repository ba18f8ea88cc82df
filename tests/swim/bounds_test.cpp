// What strangers, crowds and long names may cost, and what a leave waits for.
#include <algorithm>
#include <lifering/error.hpp>
#include <string>

#include "stage.hpp"
#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

stream_id accepted(std::uint64_t number) {
  return stream_id{accepted_stream_bit | number};
}

record named(const std::string& name, std::uint8_t host) {
  record made;
  made.name = name;
  made.address = endpoint::v4({10, 0, 0, host}, 7946);
  return made;
}

}  // namespace

TEST_CASE("streams that others open leave a quarter of the limit to us", "[swim][bounds]") {
  config settings = papers();
  settings.limits.streams = 16;
  stage s(3, settings);
  for (std::uint64_t i = 0; i < 40; ++i)
    s.give(stream_accepted{accepted(i), s.part(1)->address});
  CHECK(s.machine.stats().dropped_stream_limit == 40 - 12);
  s.streams.clear();
  for (std::uint64_t i = 0; i < 6; ++i)
    s.give(send_command{command_id{i}, "m2", true, "reliable"});
  CHECK(s.streams.size() == 4);
  CHECK(std::count_if(s.done.begin(), s.done.end(),
                      [](const completed& c) { return c.error == errc::busy; }) == 2);
}

TEST_CASE("a peer of another cluster or version is told so on its stream", "[swim][bounds]") {
  stage s(3);
  const bool version = GENERATE(false, true);
  s.give(stream_accepted{accepted(1), s.part(1)->address});
  s.give(stream_ended{accepted(1),
                      make_error_code(version ? errc::wrong_version : errc::wrong_cluster)});
  REQUIRE(s.frames.size() == 1);
  const auto* said = std::get_if<refusal>(&s.frames.front().content.body);
  REQUIRE(said != nullptr);
  CHECK(said->reason == (version ? refusal_reason::wrong_version : refusal_reason::wrong_cluster));
}

TEST_CASE("A21 packets of the longest names keep to their datagram", "[swim][bounds]") {
  // As small as the options let a member with such a name have it.
  config settings;
  settings.datagram_budget = 900;
  village v(0, settings);
  for (const char with : {'a', 'b', 'c', 'd'})
    v.add(std::string(255, with));
  std::size_t largest = 0;
  v.filter = [&](std::size_t, std::size_t, const packet& content) {
    largest = std::max(largest, size_bound(content));
    return true;
  };
  v.form();
  v.vanish(3);  // suspicions and pings of a suspect are the largest
  v.run_for(30s);
  CHECK(v.count(0, event_kind::failed, v.name(3)) == 1);
  CHECK(largest > 500);
  CHECK(largest <= 900);
}

TEST_CASE("a leave waits for as many peers as live, not for more", "[swim][bounds]") {
  village v(3);
  v.form();
  v.vanish(1);
  REQUIRE(v.run_until([&] { return v.state(0, "m2") != member_state::alive; }, 10s));
  const auto start = v.now();
  v.leave(0);
  REQUIRE(v.run_until([&] { return !v.at(0).done.empty(); }, 20s));
  CHECK_FALSE(v.at(0).done.back().error);
  CHECK(v.at(0).done.back().count == 1);
  CHECK(v.now() - start < 1s);
}

TEST_CASE("a leave doesn't wait for a peer that has left before, unheard", "[swim][bounds]") {
  stage s(2);
  s.run_for(3s);
  s.silent.insert(2);  // It left a moment ago, and answers nobody.
  s.give(leave_command{command_id{7}, 10s});
  s.run_for(300ms);
  CHECK(s.done.empty());
  s.hear(1, s.left(2, 1));
  s.run_for(2s);
  REQUIRE(s.done.size() == 1);
  CHECK_FALSE(s.done.front().error);
  CHECK(s.done.front().count == 1);
}

TEST_CASE("a leave doesn't wait for a peer whose host refuses it", "[swim][bounds]") {
  village v(2);
  v.form();
  v.crash(1);
  const auto start = v.now();
  v.leave(0);
  REQUIRE(v.run_until([&] { return !v.at(0).done.empty(); }, 20s));
  CHECK_FALSE(v.at(0).done.back().error);
  CHECK(v.at(0).done.back().count == 0);
  CHECK(v.now() - start < 1s);
}

TEST_CASE("generators of one seed give two addresses of one name two epochs", "[swim][bounds]") {
  const base::time_point start{std::chrono::hours(1)};
  const protocol first({}, named("a", 1), base::rng(7), start);
  const protocol second({}, named("a", 2), base::rng(7), start);
  const protocol again({}, named("a", 1), base::rng(7), start);
  CHECK(first.self()->epoch != second.self()->epoch);
  CHECK(first.self()->epoch == again.self()->epoch);
  CHECK(generation_of(first.self()->epoch) == 1);
  CHECK(generation_of(second.self()->epoch) == 1);
}

TEST_CASE("a comparison in buckets that are no power of two is left alone", "[swim][bounds]") {
  stage s(9);
  s.run_for(3s);
  for (const std::size_t count : {0u, 3u, 127u, 256u}) {
    s.datagrams.clear();
    s.hear(1, s.saying(1, view_compare{std::vector<std::uint64_t>(count, 1)}));
    CHECK(s.with<view_summary>().empty());
  }
  s.hear(1, s.saying(1, view_compare{std::vector<std::uint64_t>(4, 1)}));
  CHECK(s.with<view_summary>().size() == 1);
}

TEST_CASE("sends that fail on our own host say something about us, once an interval",
          "[swim][bounds]") {
  stage s(3);
  s.silence();
  const send_failed failed{s.part(1)->address,
                           std::make_error_code(std::errc::network_unreachable)};
  for (int i = 0; i < 5; ++i)
    s.give(failed);
  CHECK(s.machine.local_health() == 1);
  s.skip_to(s.now() + 999ms);
  s.give(failed);
  CHECK(s.machine.local_health() == 1);
  s.skip_to(s.now() + 1ms);
  s.give(failed);
  CHECK(s.machine.local_health() == 2);
  CHECK(s.count(event_kind::suspected) == 0);
}
