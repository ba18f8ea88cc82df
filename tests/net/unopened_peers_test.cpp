#include "net/unopened_peers.hpp"

#include "support/catch.hpp"

namespace lifering::net {
namespace {

using namespace std::chrono_literals;

const endpoint there = *endpoint::parse("10.0.0.2:7946");

swim::sender life(std::uint64_t epoch = 1) {
  swim::sender made;
  made.name = "b";
  made.epoch = epoch;
  return made;
}

struct story {
  unopened_peers peers{4};
  base::time_point start{1h};
  std::uint64_t sequence = 0;

  /// A probe of two tries: whether its second one counts as answered.
  bool probe(base::duration after, std::uint64_t epoch = 1) {
    const swim::ping asked{++sequence, "b", epoch};
    CHECK_FALSE(peers.counts_as_answered(there, asked, start + after));
    return peers.counts_as_answered(there, asked, start + after);
  }
};

TEST_CASE("A packet that can't be opened counts as life for 60 s after the last one that could",
          "[seal]") {
  story s;
  s.peers.opened(there, life(), s.start);
  CHECK_FALSE(s.probe(1s));  // All is well: the real answer is waited for.
  s.peers.unopened(there);
  CHECK(s.probe(2s));
  CHECK(s.probe(60s));
  CHECK_FALSE(s.probe(60s + 16ms));  // Time is kept in 64ths of a second.
  s.peers.unopened(there);           // More of them don't prolong it.
  CHECK_FALSE(s.probe(61s));
}

TEST_CASE("A packet that could be opened ends the doubt and begins the time anew", "[seal]") {
  story s;
  s.peers.opened(there, life(), s.start);
  s.peers.unopened(there);
  s.peers.opened(there, life(), s.start + 50s);
  CHECK_FALSE(s.probe(51s));
  s.peers.unopened(there);
  CHECK(s.probe(110s));
}

TEST_CASE("It is about that life and that address alone", "[seal]") {
  story s;
  s.peers.unopened(there);  // Nobody was ever heard from there.
  CHECK_FALSE(s.probe(0s));
  s.peers.opened(there, life(1), s.start);
  s.peers.unopened(there);
  CHECK_FALSE(s.probe(1s, 2));
  CHECK(s.probe(1s, 1));
}

TEST_CASE("Its memory has a limit, and the old make room for the new", "[seal]") {
  story s;
  for (std::uint16_t port = 1; port <= 4; ++port)
    s.peers.opened(endpoint::v4({10, 0, 0, 1}, port), life(), s.start);
  s.peers.opened(there, life(), s.start + 1s);
  s.peers.unopened(there);
  CHECK_FALSE(s.probe(1s));
  s.peers.opened(there, life(), s.start + 61s);
  s.peers.unopened(there);
  CHECK(s.probe(61s));
}

}  // namespace
}  // namespace lifering::net
