// How often seeds are asked again: soon, then less and less, down to a bound, and never in step.
#include <algorithm>
#include <iterator>
#include <lifering/error.hpp>
#include <vector>

#include "stage.hpp"
#include "support/catch.hpp"
#include "village.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace lifering::swim::test;

namespace {

constexpr base::duration interval = 1s;

config with_interval() {
  config settings;
  settings.timing.probe_interval = 1s;
  return settings;
}

/// Pauses of one kind, each of which is drawn between two bounds.
struct pauses {
  base::duration shortest = base::duration::max();
  base::duration longest{};

  void add(base::duration each) {
    shortest = std::min(shortest, each);
    longest = std::max(longest, each);
  }

  /// Of many draws some come near to either end.
  void check(base::duration least, base::duration most) const {
    const base::duration near = (most - least) / 5;
    CHECK(shortest >= least);
    CHECK(shortest < least + near);
    CHECK(longest < most);
    CHECK(longest >= most - near);
  }
};

/// The pauses before the tries of who joined the only other member, which runs or doesn't: the
/// first ones of 40 members, and all that come after those.
std::vector<pauses> pauses_of(bool is_there, std::size_t tries) {
  std::vector<pauses> found(tries);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    village v(2, with_interval(), seed);
    if (!is_there) v.crash(0);
    std::vector<base::time_point> asked;
    v.resolver = [&](const std::string& text) {
      asked.push_back(v.now());
      return seed_resolved{text, {*endpoint::parse(text)}, {}};
    };
    v.join(1, 0);
    REQUIRE(v.run_until([&] { return asked.size() > tries; }, 1h));
    for (std::size_t i = 0; i < tries; ++i)
      found[i].add(asked[i + 1] - asked[i]);
  }
  return found;
}

/// Each pause lies between a half and three halves of what is given here.
void check_healing(bool is_there, const std::vector<base::duration>& full) {
  const auto found = pauses_of(is_there, full.size());
  REQUIRE(found.size() == full.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    // The first begins when the join is done, a moment after it has asked.
    found[i].check(full[i] / 2, full[i] * 3 / 2 + interval / 10);
  }
}

}  // namespace

TEST_CASE("who misses nobody asks a seed after four intervals, then doubles that, up to 64",
          "[swim]") {
  check_healing(true, {4s, 8s, 16s, 32s, 64s, 64s});
}

TEST_CASE("who is alone asks its seeds every four to twelve intervals, however long", "[swim]") {
  check_healing(false, {4s, 8s, 8s, 8s, 8s, 8s});
}

TEST_CASE("a seed that didn't answer in time is asked again, for as long as the join may take",
          "[swim]") {
  stage s(1, with_interval());
  s.silence();
  const endpoint there = *endpoint::parse("10.9.9.9:7946");
  const auto began = s.now();
  s.give(join_command{command_id{1}, {"seed"}, 60s});
  s.give(seed_resolved{"seed", {there}, {}});
  const auto calls = [&] {
    return std::count_if(s.streams.begin(), s.streams.end(),
                         [&](const auto& each) { return each.to == there; });
  };
  for (int tries = 1; tries <= 3; ++tries) {
    REQUIRE(calls() == tries);
    const auto last = std::find_if(s.streams.rbegin(), s.streams.rend(),
                                   [&](const auto& each) { return each.to == there; });
    s.give(stream_ended{last->stream, errc::timed_out});
    REQUIRE(s.run_until([&] { return calls() > tries; }, 20s));
    CHECK(s.done.empty());
  }
  REQUIRE(s.run_until([&] { return !s.done.empty(); }, 2min));
  CHECK(s.now() - began == base::duration(60s));
  CHECK(s.done.front().error == errc::no_seed_answered);
  CHECK(s.done.front().detail.find(there.to_string()) != std::string::npos);
}

TEST_CASE("a seed that is busy is asked later and later during a join", "[swim]") {
  constexpr std::size_t tries = 6;
  std::vector<pauses> found(tries);
  config settings = with_interval();
  settings.timing.probe_timeout = 500ms;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    stage s(1, settings, seed);
    s.silence();  // Nobody else ends the join by agreeing with us.
    const endpoint there = *endpoint::parse("10.9.9.9:7946");
    s.give(join_command{command_id{1}, {"seed"}, 1h});
    s.give(seed_resolved{"seed", {there}, {}});
    const auto calls = [&] {
      std::vector<stage::opened> made;
      std::copy_if(s.streams.begin(), s.streams.end(), std::back_inserter(made),
                   [&](const auto& each) { return each.to == there; });
      return made;
    };
    REQUIRE(calls().size() == 1);
    for (std::size_t i = 0; i < tries; ++i) {
      s.give(stream_opened{calls().back().stream});
      s.give(stream_received{calls().back().stream,
                             s.saying(1, refusal{refusal_reason::busy, "no room"})});
      const auto refused = s.now();
      REQUIRE(s.run_until([&] { return calls().size() == i + 2; }, 1h));
      found[i].add(calls().back().at - refused);
    }
    CHECK(s.done.empty());
  }
  constexpr base::duration full[] = {500ms, 1s, 2s, 4s, 8s, 8s};
  for (std::size_t i = 0; i < tries; ++i) {
    CAPTURE(i);
    found[i].check(full[i] / 4, full[i] * 5 / 4);
  }
}
