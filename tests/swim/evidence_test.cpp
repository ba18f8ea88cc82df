// Which of two claims about one member wins: the whole order, pair by pair.
#include "swim/evidence.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/rng.hpp"
#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::swim;

namespace {

constexpr auto alive = member_state::alive;
constexpr auto suspect = member_state::suspect;
constexpr auto failed = member_state::failed;
constexpr auto left = member_state::left;

/// All claims about two lives with two incarnations each, from the weakest to the strongest. What
/// stands on one line is equally strong: leaving is final whatever incarnation it names.
const std::vector<std::vector<evidence>> ladder{
    {{7, 1, alive}},
    {{7, 1, suspect}},
    {{7, 1, failed}},
    {{7, 2, alive}},
    {{7, 2, suspect}},
    {{7, 2, failed}},
    {{7, 1, left}, {7, 2, left}, {7, 900, left}},
    {{8, 1, alive}},
    {{8, 1, suspect}},
    {{8, 1, failed}},
    {{8, 2, alive}},
    {{8, 2, suspect}},
    {{8, 2, failed}},
    {{8, 1, left}, {8, 2, left}},
};

}  // namespace

TEST_CASE("of two claims the one higher on the ladder wins, every pair of them", "[swim]") {
  for (std::size_t a = 0; a < ladder.size(); ++a) {
    for (std::size_t b = 0; b < ladder.size(); ++b) {
      for (const evidence& left_hand : ladder[a]) {
        for (const evidence& right_hand : ladder[b]) {
          CAPTURE(a, b);
          CHECK((left_hand <=> right_hand) == (a <=> b));
        }
      }
    }
  }
}

TEST_CASE("an alive claim overrides alive and suspect claims of lower incarnations (SWIM 4.2)",
          "[swim]") {
  CHECK(evidence{1, 5, alive} > evidence{1, 4, alive});
  CHECK(evidence{1, 5, alive} > evidence{1, 4, suspect});
  CHECK_FALSE(evidence{1, 5, alive} > evidence{1, 5, alive});
  CHECK_FALSE(evidence{1, 5, alive} > evidence{1, 5, suspect});
}

TEST_CASE("a suspicion overrides suspicions of lower and alive claims of no higher incarnations",
          "[swim]") {
  CHECK(evidence{1, 5, suspect} > evidence{1, 4, suspect});
  CHECK(evidence{1, 5, suspect} > evidence{1, 5, alive});
  CHECK(evidence{1, 5, suspect} > evidence{1, 4, alive});
  CHECK_FALSE(evidence{1, 5, suspect} > evidence{1, 6, alive});
}

TEST_CASE("unlike SWIM's, a failure is overridden by a higher incarnation; a leave by a new life",
          "[swim]") {
  CHECK(evidence{1, 5, failed} > evidence{1, 5, suspect});
  CHECK(evidence{1, 6, alive} > evidence{1, 5, failed});
  CHECK_FALSE(evidence{1, 5, alive} > evidence{1, 5, failed});
  CHECK_FALSE(evidence{1, ~std::uint64_t{0}, alive} > evidence{1, 1, left});
  CHECK(evidence{2, 1, alive} > evidence{1, 900, left});
}

TEST_CASE("in whatever order claims arrive, the same one is held at the end", "[swim]") {
  std::vector<evidence> claims;
  for (const auto& rung : ladder)
    claims.push_back(rung.front());
  base::rng random(1);
  for (int round = 0; round < 200; ++round) {
    random.shuffle(std::span(claims));
    evidence held;
    for (const evidence& claim : claims) {
      if (claim > held) held = claim;
    }
    CHECK(held == evidence{8, 1, left});
  }
}
