// Numbers of packets, against a dumb twin.
#include "wire/replay_guard.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "base/rng.hpp"
#include "support/catch.hpp"

using lifering::base::rng;
using lifering::wire::replay_guard;
using lifering::wire::replay_window;
using verdict = replay_guard::verdict;

namespace {

/// Keeps whole numbers, sorted.
class plain_window {
 public:
  bool accept(std::uint64_t number) {
    if (number <= floor_ || seen_.contains(number)) return false;
    highest_ = std::max(highest_, number);
    if (highest_ > replay_window::width) raise_floor(highest_ - replay_window::width);
    if (seen_.size() == replay_window::kept_max) raise_floor(*seen_.begin());
    return number > floor_ && seen_.insert(number).second;
  }

 private:
  void raise_floor(std::uint64_t to) {
    floor_ = std::max(floor_, to);
    seen_.erase(seen_.begin(), seen_.upper_bound(floor_));
  }

  std::uint64_t highest_ = 0;
  std::uint64_t floor_ = 0;
  std::set<std::uint64_t> seen_;
};

}  // namespace

TEST_CASE("The window says what one says that keeps whole numbers", "[wire][seal]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    rng random(seed);
    replay_window window;
    plain_window twin;
    std::uint64_t around = 1;
    for (int i = 0; i < 20'000; ++i) {
      // Mostly forwards, now and then far, and back over the whole window and beyond it.
      if (random.chance(1, 3)) around += random.below(5);
      if (random.chance(1, 500)) around += random.below(10'000);
      const std::uint64_t back = random.below(random.chance(1, 10) ? 6'000 : 70);
      const std::uint64_t number = around > back ? around - back : 0;
      INFO("seed " << seed << ", number " << number);
      REQUIRE(window.accept(number) == twin.accept(number));
    }
  }
}

TEST_CASE("A packet that 15 later ones have overtaken is taken, once, and no later",
          "[wire][seal]") {
  for (const std::uint64_t later : {replay_window::kept_max - 1, replay_window::kept_max}) {
    replay_window window;
    for (std::uint64_t i = 1; i <= later; ++i)
      REQUIRE(window.accept(100 + 10 * i));
    CAPTURE(later);
    CHECK(window.accept(100) == (later < replay_window::kept_max));
    CHECK_FALSE(window.accept(100));
    CHECK_FALSE(window.accept(110));
  }
}

TEST_CASE("The last number there is can be used, once", "[wire][seal]") {
  replay_window window;
  CHECK(window.accept(1));
  CHECK(window.accept(UINT64_MAX));
  CHECK_FALSE(window.accept(UINT64_MAX));
  CHECK_FALSE(window.accept(1));
  CHECK(window.accept(UINT64_MAX - (replay_window::width - 1)));
  CHECK_FALSE(window.accept(UINT64_MAX - replay_window::width));
}

TEST_CASE("Lives don't share their numbers, whether of one name or of two", "[wire][seal]") {
  replay_guard guard(10);
  CHECK(guard.accept("a", 1, 5) == verdict::first);
  CHECK(guard.accept("a", 2, 5) == verdict::first);
  CHECK(guard.accept("b", 1, 5) == verdict::first);
  CHECK(guard.accept("a", 1, 5) == verdict::repeated);
  CHECK(guard.accept("a", 1, 6) == verdict::fresh);
  CHECK(guard.accept("c", 1, 0) == verdict::repeated);
  CHECK(guard.lives() == 3);
}

TEST_CASE("The life that was heard longest ago is forgotten first", "[wire][seal]") {
  replay_guard guard(3);
  guard.accept("a", 1, 1);
  guard.accept("b", 1, 1);
  guard.accept("c", 1, 1);
  CHECK(guard.accept("a", 1, 1) == verdict::repeated);  // Heard, though to no avail.
  CHECK(guard.accept("d", 1, 1) == verdict::first);     // In the place of b.
  CHECK(guard.lives() == 3);
  CHECK(guard.accept("a", 1, 1) == verdict::repeated);
  CHECK(guard.accept("c", 1, 1) == verdict::repeated);
  CHECK(guard.accept("b", 1, 1) == verdict::first);
}

TEST_CASE("Lives that prove nothing make no proven one forgotten", "[wire][seal]") {
  replay_guard guard(3);
  guard.prove("a", 1, 10);
  guard.prove("b", 1, 10);
  for (std::uint64_t i = 1; i < 100; ++i) {
    guard.accept("ended", i, 1);
    REQUIRE(guard.lives() == 3);
  }
  CHECK(guard.is_proven("a", 1));
  CHECK(guard.is_proven("b", 1));
  CHECK(guard.accept("a", 1, 10) == verdict::repeated);
  // One of them that does takes the last place, and then that of who was heard longest ago.
  guard.prove("ended", 99, 2);
  guard.prove("c", 1, 1);
  CHECK(guard.lives() == 3);
  CHECK(guard.is_proven("a", 1));
  CHECK_FALSE(guard.is_proven("b", 1));
  CHECK(guard.is_proven("ended", 99));
  CHECK(guard.is_proven("c", 1));
}

TEST_CASE("A voucher proves a life from its number on, and makes no proven one forgotten",
          "[wire][seal]") {
  replay_guard guard(3);
  CHECK(guard.last_proven("a", 1) == 0);
  guard.accept("a", 1, 20);
  CHECK(guard.last_proven("a", 1) == 0);
  guard.vouch("a", 1, 10);
  CHECK(guard.is_proven("a", 1));
  CHECK(guard.last_proven("a", 1) == 20);
  CHECK(guard.accept("a", 1, 15) == verdict::repeated);
  guard.vouch("a", 1, 1000);  // It is proven by now, and its next packet must be heard.
  CHECK(guard.accept("a", 1, 21) == verdict::fresh);

  guard.vouch("b", 1, 5);
  CHECK(guard.accept("b", 1, 5) == verdict::repeated);
  CHECK(guard.accept("b", 1, 6) == verdict::fresh);
  guard.accept("c", 1, 1);
  guard.vouch("d", 1, 7);  // In the place of c, which has proved nothing.
  CHECK(guard.lives() == 3);
  guard.vouch("e", 1, 7);
  for (const auto* name : {"a", "b", "d"})
    CHECK(guard.is_proven(name, 1));
  CHECK_FALSE(guard.is_proven("e", 1));
}

TEST_CASE("A flood of lives takes no more room than its limit", "[wire][seal]") {
  replay_guard guard(100);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    REQUIRE(guard.accept("life " + std::to_string(i), i, 1) == verdict::first);
    REQUIRE(guard.lives() <= 100);
  }
}

TEST_CASE("A window that begins after a number takes what is above it, once", "[wire][seal]") {
  for (const std::uint64_t begin :
       {1ULL, 63ULL, 64ULL, 65ULL, 127ULL, 4'095ULL, 4'096ULL, 100'000ULL}) {
    replay_window window;
    window.begin_after(begin);
    CAPTURE(begin);
    for (std::uint64_t below = begin > 5'000 ? begin - 5'000 : 1; below <= begin; ++below)
      REQUIRE_FALSE(window.accept(below));
    for (std::uint64_t above = begin + 1; above < begin + 9'000; ++above) {
      REQUIRE(window.accept(above));
      REQUIRE_FALSE(window.accept(above));
    }
  }
}

TEST_CASE("A window that begins after an old number keeps what is beyond it", "[wire][seal]") {
  replay_window window;
  REQUIRE(window.accept(200));
  window.begin_after(150);
  CHECK_FALSE(window.accept(151));  // Rather one too many than one twice.
  CHECK_FALSE(window.accept(200));
  CHECK(window.accept(201));
}
