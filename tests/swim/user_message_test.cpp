// Bytes of the application from one member to another: best-effort by datagram, reliable by stream.
#include <algorithm>
#include <lifering/error.hpp>

#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

void send(village& v, std::size_t from, const std::string& to, bool reliable,
          const std::string& payload, std::uint64_t id = 900) {
  v.command(from, send_command{command_id{id}, to, reliable, payload});
}

}  // namespace

TEST_CASE("a best-effort message arrives once and is done when it is sent", "[swim]") {
  village v(4);
  v.form();
  v.at(1).done.clear();
  send(v, 1, "m4", false, "hello");
  REQUIRE(v.at(1).done.size() == 1);
  CHECK_FALSE(v.at(1).done.front().error);
  CHECK(v.at(1).done.front().command == command_id{900});
  v.run_for(1s);
  REQUIRE(v.at(3).messages.size() == 1);
  CHECK(v.at(3).messages.front().from == "m2");
  CHECK(v.at(3).messages.front().payload == "hello");
  CHECK(v.at(0).messages.empty());
}

TEST_CASE("a reliable message is done when it was acknowledged, and may be large", "[swim]") {
  village v(4);
  v.form();
  v.at(1).done.clear();
  const std::string large(200'000, 'x');
  send(v, 1, "m4", true, large);
  CHECK(v.at(1).done.empty());
  v.run_for(1s);
  REQUIRE(v.at(1).done.size() == 1);
  CHECK_FALSE(v.at(1).done.front().error);
  CHECK(v.at(1).done.front().count == 1);
  REQUIRE(v.at(3).messages.size() == 1);
  CHECK(v.at(3).messages.front().payload == large);
}

TEST_CASE("a reliable message that can't be delivered says so, at its deadline at the latest",
          "[swim]") {
  const bool host_answers = GENERATE(true, false);
  village v(4);
  v.form();
  v.at(1).done.clear();
  if (host_answers)
    v.crash(3);
  else
    v.vanish(3);
  send(v, 1, "m4", true, "hello");
  const auto limit = host_answers ? 10ms : 10s;  // stream_timeout
  v.run_for(limit - 1ms);
  if (!host_answers) CHECK(v.at(1).done.empty());
  v.run_for(2ms);
  REQUIRE(v.at(1).done.size() == 1);
  CHECK(v.at(1).done.front().error == (host_answers ? errc::unreachable : errc::timed_out));
  CHECK(v.at(1).done.front().count == 0);
}

TEST_CASE("a lost best-effort message stays lost, a reliable one is never delivered twice",
          "[swim]") {
  village v(3);
  v.form();
  v.filter = [](std::size_t, std::size_t, const packet& content) {
    return !std::holds_alternative<user_message>(content.body);
  };
  send(v, 0, "m2", false, "lost");
  send(v, 0, "m2", true, "kept");
  v.run_for(30s);
  REQUIRE(v.at(1).messages.size() == 1);
  CHECK(v.at(1).messages.front().payload == "kept");
}

TEST_CASE("a message for another is dropped, by datagram and by stream", "[swim]") {
  // Recorded on its way and shown to us, or sent to an address that was another's.
  village v(3);
  v.form();
  const auto deliver = [&](std::uint64_t for_whom) {
    packet content;
    content.from.name = "m2";
    content.from.epoch = v.machine(1).self()->epoch;
    content.body = user_message{for_whom, "psst"};
    v.inject(0, v.at(1).address, content);
    const stream_id stream{accepted_stream_bit | for_whom};
    v.command(0, stream_accepted{stream, v.at(1).address});
    v.command(0, stream_received{stream, content});
  };
  deliver(hash_bytes("m3"));
  deliver(0);
  CHECK(v.at(0).messages.empty());
  CHECK(v.machine(0).stats().dropped_not_for_us == 4);
  deliver(hash_bytes("m1"));
  CHECK(v.at(0).messages.size() == 2);
}

TEST_CASE("a message to nobody, to oneself or to one that is gone is refused at once", "[swim]") {
  const bool reliable = GENERATE(false, true);
  village v(3);
  v.form();
  v.leave(2);
  v.run_for(2s);
  v.at(0).done.clear();
  for (const char* to : {"nobody", "m1", "m3"})
    send(v, 0, to, reliable, "hello");
  REQUIRE(v.at(0).done.size() == 3);
  for (const auto& done : v.at(0).done)
    CHECK(done.error == errc::unknown_member);
}

TEST_CASE("more reliable messages at once than there are streams are refused as busy", "[swim]") {
  config settings;
  settings.limits.streams = 5;
  village v(2, settings);
  v.form();
  v.at(0).done.clear();
  for (std::uint64_t i = 0; i < 8; ++i)
    send(v, 0, "m2", true, "hello", 900 + i);
  CHECK(v.at(0).done.size() == 3);
  v.run_for(1s);
  std::size_t busy = 0;
  for (const auto& done : v.at(0).done)
    busy += done.error == errc::busy;
  // Four of the other's five streams are for those who come to it.
  CHECK(busy == 4);
  CHECK(v.at(0).done.size() == 8);
  CHECK(v.at(1).messages.size() == 4);
}

TEST_CASE("a message says which way it came", "[swim]") {
  village v(2);
  v.form();
  send(v, 0, "m2", false, "direct");
  v.run_for(1s);
  send(v, 0, "m2", true, "reliable");
  v.run_for(1s);
  send(v, 0, "", false, "broadcast");
  v.run_for(5s);
  REQUIRE(v.at(1).messages.size() == 3);
  for (const auto& heard : v.at(1).messages)
    CHECK(to_string(heard.kind) == heard.payload);
}

TEST_CASE("a reliable message that finds no room there is refused, and not delivered", "[swim]") {
  bool room = false;
  config settings;
  settings.has_room = [&room](std::size_t payload) { return room && payload <= 5; };
  village v(2, settings);
  v.form();
  v.at(0).done.clear();
  send(v, 0, "m2", true, "hello", 900);
  v.run_for(1s);
  room = true;
  send(v, 0, "m2", true, "too long", 901);
  v.run_for(1s);
  send(v, 0, "m2", true, "hello", 902);
  v.run_for(1s);
  REQUIRE(v.at(0).done.size() == 3);
  CHECK(v.at(0).done[0].error == errc::busy);
  CHECK(v.at(0).done[0].detail.find("application") != std::string::npos);
  CHECK(v.at(0).done[1].error == errc::busy);
  CHECK_FALSE(v.at(0).done[2].error);
  CHECK(v.at(1).messages.size() == 1);
}

TEST_CASE("a reliable message to an address that leads to ourselves is said to be undelivered",
          "[swim]") {
  village v(2);
  v.form();
  const endpoint alias = *endpoint::parse("192.0.2.7:7946");
  v.holder = [&](const endpoint& address) { return address == alias ? std::size_t{0} : v.size(); };
  update_command moved;
  moved.id = command_id{1};
  moved.address = alias;
  v.command(1, moved);
  REQUIRE(v.run_until([&] { return v.same_view(); }, 1s));
  v.at(0).done.clear();
  send(v, 0, "m2", true, "hello", 900);
  REQUIRE(v.run_until([&] { return !v.at(0).done.empty(); }, 100ms));
  CHECK(v.at(0).done.front().error == errc::unreachable);
  CHECK(v.at(0).done.front().detail == "its address leads to ourselves");
  CHECK(v.at(0).done.front().count == 0);
  CHECK(v.at(0).messages.empty());
}

TEST_CASE("the longest message of a datagram is sent, one byte more is refused", "[swim]") {
  village v(2);
  v.form();
  v.at(0).done.clear();
  std::size_t largest = 0;
  v.filter = [&](std::size_t, std::size_t, const packet& content) {
    largest = std::max(largest, size_bound(content));
    return true;
  };
  const std::size_t direct = v.machine(0).direct_payload_max();
  send(v, 0, "m2", false, std::string(direct, 'x'), 900);
  send(v, 0, "m2", false, std::string(direct + 1, 'x'), 901);
  const std::size_t all = v.machine(0).broadcast_payload_max();
  send(v, 0, "", false, std::string(all, 'x'), 902);
  send(v, 0, "", false, std::string(all + 1, 'x'), 903);
  v.run_for(10s);
  REQUIRE(v.at(0).done.size() == 4);
  CHECK_FALSE(v.at(0).done[0].error);
  CHECK(v.at(0).done[1].error == errc::message_too_large);
  CHECK_FALSE(v.at(0).done[2].error);
  CHECK(v.at(0).done[3].error == errc::message_too_large);
  CHECK(v.at(1).messages.size() == 2);
  CHECK(largest <= v.machine(0).settings().datagram_budget);
}

TEST_CASE("a member that has left sends no messages", "[swim]") {
  const bool reliable = GENERATE(false, true);
  village v(3);
  v.form();
  v.leave(0);
  v.run_for(2s);
  v.at(0).done.clear();
  send(v, 0, "m2", reliable, "hello");
  REQUIRE(v.at(0).done.size() == 1);
  CHECK(v.at(0).done.front().error == errc::stopped);
  v.run_for(1s);
  CHECK(v.at(1).messages.empty());
}

TEST_CASE("messages of strangers are dropped, by datagram and by stream", "[swim]") {
  village v(2);
  v.form();
  const std::size_t stranger = v.add("stranger");
  packet strange;
  strange.from.name = "stranger";
  strange.from.epoch = v.machine(stranger).self()->epoch;
  strange.body = user_message{5, "boo"};
  v.inject(0, v.at(stranger).address, strange);
  const stream_id stream{accepted_stream_bit | 999};
  v.command(0, stream_accepted{stream, v.at(stranger).address});
  v.command(0, stream_received{stream, strange});
  CHECK(v.at(0).messages.empty());
  CHECK(v.machine(0).stats().dropped_bad_sender >= 1);
}
