// How long a suspicion lasts, and who counts as its witness (Lifeguard, section IV-B).
#include "swim/suspicion.hpp"

#include <chrono>
#include <string>

#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace std::chrono_literals;

namespace {

/// Equal within a millisecond, which is what memberlist rounds to.
bool near(base::duration a, base::duration b) {
  return a - b < 1ms && b - a < 1ms;
}

constexpr base::time_point noon{std::chrono::hours(12)};

}  // namespace

TEST_CASE("confirmations take 0, .5, .7925 and all of a suspicion's stretch away", "[swim]") {
  // Lifeguard IV-B with K = 3: ln(C + 1) / ln(4).
  const base::duration min = 10s;
  const base::duration max = 60s;
  CHECK(suspicion_timeout(min, max, 0, 3) == 60s);
  CHECK(near(suspicion_timeout(min, max, 1, 3), 35s));
  CHECK(near(suspicion_timeout(min, max, 2, 3), 20'376ms));  // 60 - 50 * .79248
  CHECK(suspicion_timeout(min, max, 3, 3) == 10s);
  CHECK(suspicion_timeout(min, max, 4, 3) == 10s);
  CHECK(suspicion_timeout(min, max, 4'000'000'000u, 3) == 10s);
}

TEST_CASE("the timeouts of memberlist's own test come out alike", "[swim]") {
  // suspicion_test.go: k = 3, min 2 s, max 30 s, without the time that has passed already.
  CHECK(suspicion_timeout(2s, 30s, 0, 3) == 30s);
  CHECK(near(suspicion_timeout(2s, 30s, 1, 3), 16s));
  CHECK(near(suspicion_timeout(2s, 30s, 2, 3), 7'810ms));
  CHECK(suspicion_timeout(2s, 30s, 3, 3) == 2s);
  // Two confirmations expected: LAN, ten members.
  CHECK(suspicion_timeout(4s, 24s, 0, 2) == 24s);
  CHECK(near(suspicion_timeout(4s, 24s, 1, 2), 11'381ms));
  CHECK(suspicion_timeout(4s, 24s, 2, 2) == 4s);
}

TEST_CASE("where nobody can confirm, a suspicion is short from the start", "[swim]") {
  CHECK(suspicion_timeout(4s, 24s, 0, 0) == 4s);
  CHECK(suspicion_timeout(4s, 24s, 7, 0) == 4s);
}

TEST_CASE("every further confirmation shortens, down to the minimum and never below", "[swim]") {
  for (unsigned expected = 1; expected <= 16; ++expected) {
    base::duration before = suspicion_timeout(3s, 20s, 0, expected);
    CHECK(before == 20s);
    for (unsigned confirmations = 1; confirmations <= expected; ++confirmations) {
      const base::duration now = suspicion_timeout(3s, 20s, confirmations, expected);
      CHECK(now < before);
      CHECK(now >= 3s);
      before = now;
    }
    CHECK(before == 3s);
  }
}

TEST_CASE("suspicions of weeks don't overflow", "[swim]") {
  const base::duration weeks = std::chrono::hours(24 * 7 * 5);
  CHECK(suspicion_timeout(0s, weeks, 0, 3) == weeks);
  CHECK(near(suspicion_timeout(0s, weeks, 1, 3), weeks / 2));
}

TEST_CASE("the shortest suspicion doesn't shrink below ten members", "[swim]") {
  for (const std::size_t members : {0u, 1u, 2u, 5u, 9u, 10u})
    CHECK(suspicion_minimum(4, members, 1s) == 4s);
  CHECK(suspicion_minimum(4, 12, 1s) > 4s);
  CHECK(suspicion_minimum(4, 100, 1s) == 8s);  // memberlist's LAN table
  CHECK(suspicion_minimum(4, 1000, 1s) == 12s);
  CHECK(suspicion_minimum(4, 10'000, 1s) == 16s);
}

TEST_CASE("the shortest suspicion grows with the logarithm, and with both factors", "[swim]") {
  CHECK(suspicion_minimum(5, 128, 1s) == 10'535ms);  // Lifeguard's setup: 10.54 s
  CHECK(suspicion_minimum(4, 50, 1s) == 6'792ms);    // the logarithm kept to three places
  CHECK(suspicion_minimum(2, 128, 500ms) == 2'107ms);
  CHECK(suspicion_minimum(6, 128, 5s) == 63'210ms);
}

TEST_CASE("an accuser counts once, and up to a limit", "[swim]") {
  suspicion s;
  CHECK(s.add("a", 1, false));
  CHECK_FALSE(s.add("a", 1, false));
  CHECK_FALSE(s.add("a", 2, false));  // another life of it isn't independent
  CHECK(s.accusers.size() == 1);
  for (std::size_t i = 1; i < suspicion::accusers_max; ++i)
    CHECK(s.add("b" + std::to_string(i), 1, false));
  CHECK_FALSE(s.add("one too many", 1, true));
  CHECK(s.accusers.size() == suspicion::accusers_max);
  CHECK(s.accused_by("a"));
  CHECK_FALSE(s.accused_by("one too many"));
  CHECK(s.refusals() == 0);
}

TEST_CASE("an accuser that is refused later counts as refused, and stays so", "[swim]") {
  suspicion s;
  s.add("a", 1, false);
  CHECK(s.refusals() == 0);
  CHECK_FALSE(s.add("a", 1, true));
  CHECK(s.refusals() == 1);
  s.add("a", 1, false);
  CHECK(s.refusals() == 1);
}

TEST_CASE("of the suspicions that are due the earliest comes first", "[swim]") {
  suspicion_set set;
  CHECK(set.next_deadline() == base::never);
  CHECK(set.due(noon) == nullptr);
  set.start(1, noon).deadline = noon + 3s;
  set.start(2, noon).deadline = noon + 1s;
  set.start(3, noon).deadline = noon + 2s;
  CHECK(set.size() == 3);
  CHECK(set.next_deadline() == noon + 1s);
  CHECK(set.due(noon + 999ms) == nullptr);
  CHECK(set.due(noon + 1s)->subject == 2);
  CHECK(set.due(noon + 9s)->subject == 2);
  set.stop(2);
  CHECK(set.find(2) == nullptr);
  CHECK(set.due(noon + 9s)->subject == 3);
  set.stop(3);
  CHECK(set.find(1)->deadline == noon + 3s);  // moved within the set, unchanged
  set.stop(2);                                // not there any more
  CHECK(set.size() == 1);
}

TEST_CASE("postponing moves every start and every end", "[swim]") {
  suspicion_set set;
  set.start(1, noon).deadline = noon + 3s;
  set.start(2, noon + 1s).deadline = noon + 4s;
  set.postpone(10s, noon + 60s);
  CHECK(set.find(1)->started == noon + 10s);
  CHECK(set.find(1)->deadline == noon + 13s);
  CHECK(set.find(2)->started == noon + 11s);
  CHECK(set.find(2)->deadline == noon + 14s);
}

TEST_CASE("postponing moves no start into the future, where the suspect couldn't be heard",
          "[swim]") {
  suspicion_set set;
  set.start(1, noon).deadline = noon + 3s;
  set.postpone(10s, noon + 8s);
  CHECK(set.find(1)->started == noon + 8s);
  CHECK(set.find(1)->deadline == noon + 13s);
}
