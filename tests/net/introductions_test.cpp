// When members are asked for a proof: in a time that grows with the cluster, one of two first.
#include "net/introductions.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace lifering::net {
namespace {

using namespace std::chrono_literals;

swim::record_ptr life_of(const std::string& name) {
  auto made = std::make_shared<swim::record>();
  made->name = name;
  return made;
}

const base::time_point start{100s};

/// A number of lives in a cluster of `members`, in a queue of their own.
introductions crowd(int lives, std::size_t members, bool second, std::uint64_t seed) {
  introductions all(10'000, 1s, seed);
  for (int i = 0; i < lives; ++i)
    all.add(life_of(std::to_string(i)), members, second, start);
  return all;
}

/// When each turn comes, if somebody looks every millisecond.
std::vector<base::duration> turns_of(introductions& all, base::duration until) {
  std::vector<base::duration> turns;
  for (base::duration at{0}; at <= until; at += 1ms) {
    while (all.take(start + at))
      turns.push_back(at);
  }
  return turns;
}

}  // namespace

TEST_CASE("After a pause turns are spread over thirty milliseconds for each member") {
  auto all = crowd(1000, 100, false, 1);
  const auto turns = turns_of(all, 10s);
  REQUIRE(turns.size() == 1000);
  CHECK(turns.front() >= 950ms);  // a little early, to share wakes
  CHECK(turns.back() <= 4s);
  CHECK(turns.back() > 3800ms);
  // Even enough: of ten parts none has twice its share.
  for (base::duration part{1s}; part < base::duration(4s); part += 300ms) {
    const auto in_part = std::count_if(turns.begin(), turns.end(), [part](base::duration at) {
      return at >= part && at < part + base::duration(300ms);
    });
    CHECK(in_part < 200);
  }
}

TEST_CASE("Who can't keep up puts all turns off by the pause, once in a pause") {
  auto all = crowd(1000, 100, false, 1);
  auto late = crowd(1000, 100, false, 1);
  for (base::duration at{0}; at < base::duration(1s); at += 20ms)
    late.put_off(start + at);
  auto in_time = turns_of(all, 10s);
  for (base::duration& at : in_time)
    at += 1s;
  CHECK(turns_of(late, 10s) == in_time);
}

TEST_CASE("Who is second begins when the first must have had its turn") {
  auto all = crowd(100, 50, true, 2);
  const auto turns = turns_of(all, 10s);
  REQUIRE(turns.size() == 100);
  CHECK(turns.front() >= 2450ms);
  CHECK(turns.back() <= 4s);
}

TEST_CASE("Turns come in order, each once, and the deadline is that of the next") {
  introductions all(10'000, 1s, 3);
  CHECK(all.next_deadline() == base::never);
  CHECK_FALSE(all.take(start));
  std::set<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    expected.insert(std::to_string(i));
    all.add(life_of(std::to_string(i)), 10, i % 2 == 0, start);
  }
  base::time_point last = start;
  while (all.next_deadline() != base::never) {
    const auto due = all.next_deadline();
    CHECK(due >= last);
    CHECK_FALSE(all.take(due - base::duration(51ms)));
    const auto next = all.take(due);
    REQUIRE(next);
    CHECK(expected.erase(next->name) == 1);
    last = due;
  }
  CHECK(expected.empty());
}

TEST_CASE("What waits for its turn is bounded, and can be forgotten") {
  introductions all(5, 1s, 4);
  for (int i = 0; i < 9; ++i)
    all.add(life_of(std::to_string(i)), 3, false, start);
  CHECK(turns_of(all, 2s).size() == 5);
  all.add(life_of("one more"), 3, false, start);
  CHECK(all.next_deadline() != base::never);
  all.clear();
  CHECK(all.next_deadline() == base::never);
}

}  // namespace lifering::net
