// Logarithms in integers: results must be the same on every machine, so libm is no choice.
#pragma once

#include <bit>
#include <cstdint>

#include "base/check.hpp"

namespace lifering::base {

/// log2(value) in 1/65536, rounded down, for value >= 1. Digit by digit: squaring the mantissa
/// doubles its logarithm, so each squaring that passes 2 yields a one bit.
constexpr std::uint32_t log2_q16(std::uint64_t value) noexcept {
  const auto whole = static_cast<unsigned>(std::bit_width(value)) - 1;
  std::uint64_t mantissa = whole >= 31 ? value >> (whole - 31) : value << (31 - whole);
  std::uint32_t result = whole << 16;
  for (unsigned bit = 1u << 15; bit != 0; bit >>= 1) {
    mantissa = (mantissa * mantissa) >> 31;  // 31 fraction bits, in [1, 4)
    if (mantissa >> 32 != 0) {
      result |= bit;
      mantissa >>= 1;
    }
  }
  return result;
}

/// log10(value) in thousandths, rounded down, for value >= 1.
constexpr std::uint32_t log10_thousandths(std::uint64_t value) noexcept {
  // log10(2) in units of 2^-32; the sum is nudged by half of a 2^-16 step so that exact powers
  // of ten don't fall short by the truncation of log2_q16.
  const std::uint64_t log2 = (std::uint64_t{log2_q16(value)} << 1) | 1;  // 17 fraction bits
  return static_cast<std::uint32_t>((log2 * 1000 * 1292913986u) >> (17 + 32));
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
