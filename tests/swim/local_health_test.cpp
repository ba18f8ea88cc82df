// Local health (Lifeguard, section IV-A) and the measured round trip: what they make of the
// papers' intervals and timeouts.
#include "swim/local_health.hpp"

#include <chrono>

#include "support/catch.hpp"
#include "swim/round_trip.hpp"

using namespace lifering;
using namespace lifering::swim;
using namespace std::chrono_literals;

TEST_CASE("the score rises by what went wrong, falls by one, and saturates at both ends",
          "[swim]") {
  // After memberlist's awareness_test.go: each row changes the score that the last one left.
  struct row {
    unsigned worse, better, score;
    base::duration timeout;
  };
  const row rows[] = {
      {0, 0, 0, 1s}, {0, 1, 0, 1s}, {0, 10, 0, 1s}, {1, 0, 1, 2s}, {0, 1, 0, 1s},
      {4, 0, 4, 5s}, {0, 1, 3, 4s}, {10, 0, 8, 9s}, {1, 0, 8, 9s}, {0, 1, 7, 8s},
      {0, 6, 1, 2s}, {0, 1, 0, 1s}, {0, 20, 0, 1s},
  };
  local_health health(8);
  for (const row& step : rows) {
    if (step.worse != 0) health.worse(step.worse);
    for (unsigned i = 0; i < step.better; ++i)
      health.better();
    CAPTURE(step.worse, step.better, step.score);
    CHECK(health.score() == step.score);
    CHECK(health.scale(1s) == step.timeout);
  }
}

TEST_CASE("at the worst the interval is 9 s and the timeout 4.5 s (Lifeguard IV-A)", "[swim]") {
  local_health health(8);
  health.worse(100);
  CHECK(health.scale(1s) == 9s);
  CHECK(health.scale(500ms) == 4500ms);
}

TEST_CASE("until something was measured, the timeout is the configured one", "[swim]") {
  const round_trip trip;
  CHECK(trip.timeout(500ms) == 500ms);
}

TEST_CASE("the first round trip counts with half of itself as deviation (RFC 6298 2.2)", "[swim]") {
  round_trip trip;
  trip.sample(100ms);
  CHECK(trip.smoothed() == 100ms);
  CHECK(trip.timeout(500ms) == 300ms);
}

TEST_CASE("later round trips count an eighth, their deviation a quarter (RFC 6298 2.3)", "[swim]") {
  round_trip trip;
  trip.sample(100ms);
  trip.sample(180ms);  // deviation 50 + (80 - 50) / 4 = 57.5, smoothed 100 + 80 / 8 = 110
  CHECK(trip.smoothed() == 110ms);
  CHECK(trip.timeout(500ms) == 340ms);
  trip.sample(30ms);  // deviation 57.5 + (80 - 57.5) / 4 = 63.125, smoothed 110 - 80 / 8 = 100
  CHECK(trip.smoothed() == 100ms);
  CHECK(trip.timeout(500ms) == 352'500us);
}

TEST_CASE("the timeout stays within a tenth of the configured one and all of it", "[swim]") {
  round_trip trip;
  for (int i = 0; i < 100; ++i)
    trip.sample(10us);
  CHECK(trip.timeout(500ms) == 50'010us);
  for (int i = 0; i < 100; ++i)
    trip.sample(2s);
  CHECK(trip.timeout(500ms) == 500ms);
}

TEST_CASE("above round trips that are all alike a tenth of the timeout is left as room", "[swim]") {
  round_trip trip;
  for (int i = 0; i < 200; ++i)
    trip.sample(80ms);
  CHECK(trip.smoothed() == 80ms);
  CHECK(trip.timeout(500ms) == 130ms);
}
