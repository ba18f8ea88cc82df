// Logarithms in integers: results must be the same on every machine, so libm is no choice.
#pragma once

#include <bit>
#include <cstdint>

#include "base/check.hpp"

namespace lifering::base {

/// log2(value) in units of 2^-32, rounded down, for value >= 1. Digit by digit: squaring the
/// mantissa doubles its logarithm, so each squaring that passes 2 yields a one bit.
constexpr std::uint64_t log2_q32(std::uint64_t value) noexcept {
  __extension__ using wide = unsigned __int128;
  const auto whole = static_cast<unsigned>(std::bit_width(value)) - 1;
  std::uint64_t mantissa = value << (63 - whole);  // 63 fraction bits, in [1, 2)
  std::uint64_t result = std::uint64_t{whole} << 32;
  for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0; bit >>= 1) {
    const wide square = (wide{mantissa} * mantissa) >> 63;  // in [1, 4)
    if ((square >> 64) != 0) result |= bit;
    mantissa = static_cast<std::uint64_t>((square >> 64) != 0 ? square >> 1 : square);
  }
  return result;
}

/// The same in units of 2^-16.
constexpr std::uint32_t log2_q16(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(log2_q32(value) >> 16);
}

/// log10(value) in thousandths, for value >= 1: rounded down, but for values that lie within a
/// millionth below the next thousandth.
constexpr std::uint32_t log10_thousandths(std::uint64_t value) noexcept {
  // log10(2) in units of 2^-32. Both factors fall short by less than their last place; the nudge
  // makes up for it, so that powers of ten up to 10^11 come out exact. From 10^12 on the result may
  // be one too small.
  __extension__ using wide = unsigned __int128;
  constexpr std::uint64_t nudge = 64;
  return static_cast<std::uint32_t>((wide{log2_q32(value) + nudge} * 1000 * 1292913986u) >> 64);
}

/// The least d with 10^d >= value, for value >= 1: ceil(log10(value)).
constexpr unsigned ceil_log10(std::uint64_t value) noexcept {
  unsigned digits = 0;
  for (std::uint64_t power = 1; power < value && digits < 20; power *= 10)
    ++digits;
  return digits;
}

/// ceil(log2(value)) for value >= 1.
constexpr unsigned ceil_log2(std::uint64_t value) noexcept {
  return static_cast<unsigned>(std::bit_width(value - 1));
}

}  // namespace lifering::base
