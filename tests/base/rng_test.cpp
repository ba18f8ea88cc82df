// The random generator: its published answers, and that its helpers favour nobody.
#include "base/rng.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <vector>

#include "support/catch.hpp"

using lifering::base::rng;

TEST_CASE("the generator is xoshiro256** seeded through splitmix64", "[base]") {
  // Computed by a second implementation that also reproduces the authors' test vector for the
  // state {1, 2, 3, 4}. The seeds have every bit off, few on, and every bit on.
  struct row {
    std::uint64_t seed;
    std::array<std::uint64_t, 6> answers;
  };
  const row rows[] = {
      {0,
       {0x99ec5f36cb75f2b4u, 0xbf6e1f784956452au, 0x1a5f849d4933e6e0u, 0x6aa594f1262d2d2cu,
        0xbba5ad4a1f842e59u, 0xffef8375d9ebcacau}},
      {1,
       {0xb3f2af6d0fc710c5u, 0x853b559647364ceau, 0x92f89756082a4514u, 0x642e1c7bc266a3a7u,
        0xb27a48e29a233673u, 0x24c123126ffda722u}},
      {12345,
       {0xbe6a36374160d49bu, 0x214aaa0637a688c6u, 0xf69d16de9954d388u, 0x0c60048c4e96e033u,
        0x8e2076aeed51c648u, 0x02bbcc1c1fc50f84u}},
      {std::numeric_limits<std::uint64_t>::max(),
       {0x8f5520d52a7ead08u, 0xc476a018caa1802du, 0x81de31c0d260469eu, 0xbf658d7e065f3c2fu,
        0x913593fda1bca32au, 0xbb535e93941ba525u}},
  };
  for (const row& expected : rows) {
    CAPTURE(expected.seed);
    rng random(expected.seed);
    for (const std::uint64_t answer : expected.answers)
      CHECK(random.next() == answer);
  }
}

TEST_CASE("a copy of a generator goes on alike, and on its own", "[base]") {
  rng first(7);
  first.next();
  rng second = first;
  const std::uint64_t answer = first.next();
  first.next();
  CHECK(second.next() == answer);
}

TEST_CASE("below() stays below its bound and reaches every value", "[base]") {
  rng random(3);
  for (const std::uint64_t bound : {1u, 2u, 3u, 7u, 64u, 100u}) {
    std::set<std::uint64_t> drawn;
    for (int i = 0; i < 4000; ++i)
      drawn.insert(random.below(bound));
    CAPTURE(bound);
    CHECK(drawn.size() == bound);
    CHECK(*drawn.rbegin() == bound - 1);
  }
}

TEST_CASE("below() has no bias, not even where a modulo would show it most", "[base]") {
  // With a bound of 3 * 2^62 a modulo gives the lowest third of the values half of all draws, and
  // a multiplication without rejection gives it to the multiples of 3.
  constexpr std::uint64_t third = std::uint64_t{1} << 62;
  constexpr int draws = 30'000;
  rng random(5);
  std::array<int, 3> counts{};
  std::array<int, 2> residues{};
  for (int i = 0; i < draws; ++i) {
    const std::uint64_t value = random.below(3 * third);
    ++counts[static_cast<std::size_t>(value / third)];
    // Without rejection four draws fall on three values, and multiples of 3 get two of them.
    ++residues[value % 3 == 0 ? 0 : 1];
  }
  for (const int count : counts) {  // 10,000 each; five standard deviations are 408
    CHECK(count > 9592);
    CHECK(count < 10408);
  }
  CHECK(residues[0] > 9592);
  CHECK(residues[0] < 10408);
}

TEST_CASE("chance() is as likely as its fraction says", "[base]") {
  rng random(11);
  int hits = 0;
  for (int i = 0; i < 40'000; ++i)
    hits += random.chance(1, 4);
  CHECK(hits > 10'000 - 433);  // five standard deviations
  CHECK(hits < 10'000 + 433);
  for (int i = 0; i < 100; ++i) {
    CHECK(random.chance(5, 5));
    CHECK_FALSE(random.chance(0, 5));
  }
}

TEST_CASE("a shuffle yields every order equally often", "[base]") {
  rng random(13);
  std::array<int, 24> counts{};
  constexpr int draws = 24'000;
  for (int i = 0; i < draws; ++i) {
    std::vector<int> values(4);
    std::iota(values.begin(), values.end(), 0);
    random.shuffle(std::span(values));
    // The rank of the permutation, by its inversions.
    std::size_t rank = 0;
    for (std::size_t at = 0; at < 4; ++at) {
      const auto smaller = std::count_if(values.begin() + static_cast<std::ptrdiff_t>(at),
                                         values.end(), [&](int v) { return v < values[at]; });
      rank = rank * (4 - at) + static_cast<std::size_t>(smaller);
    }
    ++counts[rank];
  }
  // Chi-square with 23 degrees of freedom: 58.6 is passed once in 15,000 times.
  double sum = 0;
  for (const int count : counts)
    sum += (count - 1000.0) * (count - 1000.0) / 1000.0;
  CHECK(sum < 58.6);
}

TEST_CASE("a shuffle of none or one leaves it alone and draws nothing", "[base]") {
  rng random(17);
  rng untouched(17);
  std::vector<int> none;
  std::vector<int> one{42};
  random.shuffle(std::span(none));
  random.shuffle(std::span(one));
  CHECK(one == std::vector<int>{42});
  CHECK(random.next() == untouched.next());
}
