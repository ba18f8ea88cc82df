// When the application's word about its health counts: times pinned from both sides.
#include "cluster/health.hpp"

#include "support/catch.hpp"

using namespace std::chrono_literals;
using lifering::base::time_point;
using lifering::cluster_detail::health_rule;

namespace {

constexpr time_point start{1h};

health_rule made() {
  lifering::health_options options;
  options.bad_for = 3s;
  options.good_for = 10s;
  return health_rule(options);
}

}  // namespace

TEST_CASE("who says nothing is well", "[health]") {
  auto rule = made();
  CHECK_FALSE(rule.sick());
  CHECK(rule.next_deadline() == lifering::base::never);
  CHECK_FALSE(rule.advance(start + 24h));
  rule.report(true, start);
  CHECK(rule.next_deadline() == lifering::base::never);
}

TEST_CASE("bad words make sick after their time, however many there are", "[health]") {
  auto rule = made();
  rule.report(false, start);
  rule.report(false, start + 1s);
  rule.report(false, start + 2s);
  CHECK(rule.next_deadline() == start + 3s);
  CHECK_FALSE(rule.advance(start + 3s - 1ms));
  CHECK_FALSE(rule.sick());
  CHECK(rule.advance(start + 3s));
  CHECK(rule.sick());
  CHECK(rule.next_deadline() == lifering::base::never);
}

TEST_CASE("a good word between starts the time anew, in both directions", "[health]") {
  auto rule = made();
  rule.report(false, start);
  rule.report(true, start + 2s);
  CHECK(rule.next_deadline() == lifering::base::never);
  rule.report(false, start + 2500ms);
  CHECK_FALSE(rule.advance(start + 5499ms));
  CHECK(rule.advance(start + 5500ms));

  rule.report(true, start + 6s);
  rule.report(false, start + 15s);
  CHECK(rule.next_deadline() == lifering::base::never);
  rule.report(true, start + 16s);
  CHECK_FALSE(rule.advance(start + 26s - 1ms));
  CHECK(rule.sick());
  CHECK(rule.advance(start + 26s));
  CHECK_FALSE(rule.sick());
}

TEST_CASE("a check that flaps each few seconds changes nothing, or one thing once", "[health]") {
  // Bad for half of each period. Shorter than bad_for: always well. Longer: sick, and so it stays,
  // since it is never good for good_for.
  const auto changes_of = [](lifering::base::duration half) {
    auto rule = made();
    std::size_t changes = 0;
    bool good = true;
    for (auto now = start; now < start + 1h; now += 500ms) {
      if ((now - start) % half == 0s) good = !good;
      changes += rule.advance(now);
      rule.report(good, now);
    }
    CHECK(rule.sick() == (changes == 1));
    return changes;
  };
  CHECK(changes_of(1s) == 0);
  CHECK(changes_of(2500ms) == 0);
  CHECK(changes_of(4s) == 1);
  CHECK(changes_of(9500ms) == 1);
  CHECK(changes_of(15s) > 2);  // such a check tells of two different things, and is believed
}

TEST_CASE("times of zero make each word count at once", "[health]") {
  lifering::health_options options;
  options.bad_for = 0ms;
  options.good_for = 0ms;
  health_rule rule(options);
  rule.report(false, start);
  CHECK(rule.advance(start));
  CHECK(rule.sick());
  rule.report(true, start);
  CHECK(rule.advance(start));
  CHECK_FALSE(rule.sick());
}
