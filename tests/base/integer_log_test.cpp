// Logarithms in integers, against values computed exactly.
#include "base/integer_log.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "support/catch.hpp"

using namespace lifering::base;

namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

/// value^power as a product of doubles would lose digits; logarithms in long double have 64 bits,
/// which leaves 2^-52 of doubt at these sizes.
long double log2_exactly(std::uint64_t value) {
  return std::log2(static_cast<long double>(value));
}

}  // namespace

TEST_CASE("log2 of a power of two is exact", "[base]") {
  for (unsigned power = 0; power < 64; ++power)
    CHECK(log2_q16(std::uint64_t{1} << power) == power << 16);
}

TEST_CASE("log2 in 1/65536 is never above the truth and at most one step below its floor",
          "[base]") {
  const auto check = [](std::uint64_t value) {
    const auto floor = static_cast<std::uint32_t>(std::floor(log2_exactly(value) * 65536));
    const std::uint32_t ours = log2_q16(value);
    return ours <= floor && ours + 1 >= floor;
  };
  for (std::uint64_t value = 1; value < 70'000; ++value) {
    if (!check(value)) FAIL_CHECK(value);
  }
  std::uint64_t value = 1;
  for (int i = 0; i < 2'000 && value < largest / 103; ++i, value += value / 50 + 1) {
    if (!check(value)) FAIL_CHECK(value);
  }
}

TEST_CASE("log2 never falls as its argument rises", "[base]") {
  std::uint32_t before = 0;
  for (std::uint64_t value = 1; value < 70'000; ++value) {
    const std::uint32_t now = log2_q16(value);
    if (now < before) FAIL_CHECK(value);
    before = now;
  }
  CHECK(log2_q16(largest) >= log2_q16(largest - 1));
  CHECK(log2_q16(largest) < 64u << 16);
}

TEST_CASE("log10 in thousandths is within one of the truth everywhere", "[base]") {
  const auto check = [](std::uint64_t value) {
    const long double exact = std::log10(static_cast<long double>(value)) * 1000;
    return std::abs(exact - static_cast<long double>(log10_thousandths(value))) <= 1.01L;
  };
  for (std::uint64_t value = 1; value < 70'000; ++value) {
    if (!check(value)) FAIL_CHECK(value);
  }
  for (std::uint64_t value = 70'000; value < largest / 2; value += value / 7) {
    if (!check(value)) FAIL_CHECK(value);
  }
  CHECK(check(largest));
}

TEST_CASE("log10 of a power of ten is exact", "[base]") {
  std::uint64_t power = 1;
  for (std::uint32_t tens = 0; tens <= 11; ++tens) {
    CHECK(log10_thousandths(power) == 1000 * tens);
    power *= 10;
  }
  CHECK(log10_thousandths(9) == 954);
  CHECK(log10_thousandths(99) == 1995);
  CHECK(log10_thousandths(999) == 2999);
  CHECK(log10_thousandths(128) == 2107);
}

TEST_CASE("ceil_log10 counts the tens exactly", "[base]") {
  CHECK(ceil_log10(1) == 0);
  std::uint64_t power = 1;
  for (unsigned digits = 1; digits < 20; ++digits) {
    CHECK(ceil_log10(power + 1) == digits);
    CHECK(ceil_log10(power * 10) == digits);
    power *= 10;
  }
  CHECK(ceil_log10(power) == 19);
  CHECK(ceil_log10(power + 1) == 20);
  CHECK(ceil_log10(largest) == 20);
}

TEST_CASE("ceil_log2 counts the doublings exactly", "[base]") {
  CHECK(ceil_log2(1) == 0);
  CHECK(ceil_log2(2) == 1);
  for (unsigned power = 2; power < 64; ++power) {
    const std::uint64_t value = std::uint64_t{1} << power;
    CHECK(ceil_log2(value - 1) == power);
    CHECK(ceil_log2(value) == power);
    CHECK(ceil_log2(value + 1) == power + 1);
  }
}
