// Messages of an application to everybody: delivered once to each, also where packets get lost.
#include <lifering/error.hpp>
#include <string>

#include "support/catch.hpp"
#include "swim/broadcast_queue.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

void shout(village& v, std::size_t from, const std::string& payload, std::uint64_t id) {
  v.command(from, send_command{command_id{id}, "", false, payload});
}

broadcast numbered(std::uint64_t sequence, std::size_t size = 10) {
  return {"origin", 7, sequence, std::string(size, 'x')};
}

}  // namespace

TEST_CASE("a broadcast reaches every other member once, and not its sender", "[swim]") {
  village v(20);
  v.form();
  for (std::uint64_t i = 0; i < 3; ++i)
    shout(v, 4, "news " + std::to_string(i), 500 + i);
  v.run_for(3s);
  for (std::size_t i = 0; i < v.size(); ++i) {
    CAPTURE(i);
    CHECK(v.at(i).messages.size() == (i == 4 ? 0 : 3));
    CHECK(v.machine(i).queued_updates() == 0);
  }
  CHECK(v.at(7).messages.front().from == "m5");
}

TEST_CASE("who missed a broadcast pulls it", "[swim]") {
  village v(5);
  v.form();
  // Not one copy reaches the last by gossip; only what answers its pull does.
  bool asked = false;
  v.filter = [&](std::size_t from, std::size_t to, const packet& content) {
    if (from == 4 && std::holds_alternative<broadcast_pull>(content.body)) asked = true;
    return to != 4 || content.broadcasts.empty() || asked;
  };
  shout(v, 0, "hello", 500);
  REQUIRE(v.run_until([&] { return v.at(4).messages.size() == 1; }, 10s));
  CHECK(asked);
  v.run_for(5s);
  CHECK(v.at(4).messages.size() == 1);
  CHECK(v.at(1).messages.size() == 1);
}

TEST_CASE("every broadcast is delivered where half of all packets are lost", "[swim]") {
  village v(12, {}, 5);
  v.form();
  base::rng weather(9);
  v.filter = [&](std::size_t, std::size_t, const packet&) { return weather.chance(1, 2); };
  for (std::uint64_t i = 0; i < 20; ++i) {
    shout(v, i % 3, "news " + std::to_string(i), 500 + i);
    v.run_for(100ms);
  }
  v.run_for(30s);
  for (std::size_t i = 0; i < v.size(); ++i) {
    CAPTURE(i);
    CHECK(v.at(i).messages.size() == (i == 0 || i == 1 ? 13 : i == 2 ? 14 : 20));
  }
}

TEST_CASE("a newcomer isn't told what was said before it came", "[swim]") {
  village v(3);
  v.form();
  shout(v, 0, "old", 500);
  v.run_for(10s);
  const std::size_t last = v.add("m4");
  v.join(last, 0);
  v.run_for(10s);
  CHECK(v.at(last).messages.empty());
  shout(v, 0, "new", 501);
  v.run_for(3s);
  REQUIRE(v.at(last).messages.size() == 1);
  CHECK(v.at(last).messages.front().payload == "new");
}

TEST_CASE("a broadcast that fits into no datagram is refused and changes nothing", "[swim]") {
  village v(2);
  v.form();
  const auto before = v.machine(0).self()->incarnation;
  v.at(0).done.clear();
  shout(v, 0, std::string(1400, 'x'), 500);
  REQUIRE(v.at(0).done.size() == 1);
  CHECK(v.at(0).done.front().error == errc::message_too_large);
  CHECK(v.machine(0).self()->incarnation == before);
}

TEST_CASE("broadcasts are sent as often as the limit says, least often first", "[swim]") {
  broadcast_queue queue;
  queue.put(numbered(1));
  queue.put(numbered(2));
  const std::size_t one = size_bound(numbered(1));
  std::vector<broadcast> out;
  for (int i = 0; i < 4; ++i)
    queue.take(one, 2, out);
  REQUIRE(out.size() == 4);
  CHECK(out[0].sequence == 1);
  CHECK(out[1].sequence == 2);
  CHECK(out[2].sequence == 1);
  CHECK(out[3].sequence == 2);
  CHECK(queue.waiting() == 0);
  CHECK(queue.fresh() == 0);
  queue.take(10'000, 2, out);
  CHECK(out.size() == 4);
}

TEST_CASE("broadcasts are kept within their limits, the newest of them", "[swim]") {
  broadcast_queue queue;
  for (std::uint64_t i = 1; i <= 1000; ++i)
    queue.put(numbered(i, 2000));
  std::uint64_t kept = 0;
  std::uint64_t first = 0;
  queue.for_each_after("origin", 7, 0, [&](const broadcast& b) {
    if (kept++ == 0) first = b.sequence;
  });
  CHECK(kept > 100);
  CHECK(kept * size_bound(numbered(1000, 2000)) <= broadcast_queue::bytes_max);
  CHECK(first == 1000 - kept + 1);
  CHECK(queue.waiting() == kept);
}
