// Scores of `slots`: how well a node fits a segment, in whole numbers that are the same everywhere.
//
// Weighted rendezvous hashing (Schindelhauer and Schomaker 2005) draws a number u in [0, 1) for
// each pair of node and segment and gives the segment to the smallest -log(1 - u) / weight:
// exponential clocks, of which each rings first with a chance in proportion to its weight. Here a
// node's draws are not independent: each node puts the segments in an order of its own, a
// pseudo-random permutation, and u is the segment's rank in it plus a fraction. Two things follow.
// A node knows which segments it fits best without looking at the others, so a build takes a few
// times as many steps as there are segments, not nodes times segments. And each node has exactly
// one segment of each rank, which halves the variance of the shares.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>

#include "ring/mix64.hpp"

namespace lifering::ring_detail {

/// A node's order of the segments: a keyed bijection of the numbers below 2^bits, by
/// multiplications that carry upwards and shifts that carry downwards.
class permutation {
 public:
  permutation() = default;
  explicit constexpr permutation(std::uint64_t key) noexcept {
    const auto draw = [&key] { return static_cast<std::uint32_t>(mix64(++key) >> 32); };
    flips = draw();
    for (auto& multiplier : multipliers) {
      multiplier = draw() | 1;  // Odd numbers have an inverse modulo a power of two.
    }
    offset = draw();
    salt = draw();
  }

  /// The same for 2^bits segments, with multipliers that are far from 0 and from 2^bits: a small
  /// one, of either sign, would carry little from low bits to high ones.
  constexpr permutation fitted(unsigned bits) const noexcept {
    permutation result = *this;
    for (auto& multiplier : result.multipliers) {
      const std::uint32_t quarter = std::uint32_t{1} << (bits - 2);
      multiplier =
          (multiplier & (quarter - 1)) + ((multiplier & quarter) != 0 ? quarter : 2 * quarter);
    }
    return result;
  }

  /// The rank of a segment, for a permutation that was fitted to the bits.
  constexpr std::uint32_t rank(std::uint32_t segment, unsigned bits) const noexcept {
    const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
    const unsigned half = (bits + 1) / 2;
    std::uint32_t x = (segment ^ flips) & mask;
    x = (x * multipliers[0]) & mask;
    x ^= x >> half;
    x = (x * multipliers[1]) & mask;
    x ^= x >> half;
    return (x * multipliers[2] + offset) & mask;
  }

  std::uint32_t flips = 0;
  std::array<std::uint32_t, 3> multipliers{};
  std::uint32_t offset = 0;
  std::uint32_t salt = 0;  ///< Of the fractions.
};

/// The other direction: the segment of a rank.
class inverse_permutation {
 public:
  explicit constexpr inverse_permutation(const permutation& forward) noexcept : forward_(forward) {
    for (std::size_t i = 0; i < inverses_.size(); ++i) {
      const std::uint32_t m = forward.multipliers[i];
      std::uint32_t inverse = m;  // Right in the lowest three bits; each step doubles them.
      for (int step = 0; step < 4; ++step) {
        inverse *= 2 - m * inverse;
      }
      inverses_[i] = inverse;
    }
  }

  constexpr std::uint32_t segment(std::uint32_t rank, unsigned bits) const noexcept {
    const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
    const unsigned half = (bits + 1) / 2;
    std::uint32_t x = ((rank - forward_.offset) * inverses_[2]) & mask;
    x ^= x >> half;  // Its own inverse, as it shifts by at least half the bits.
    x = (x * inverses_[1]) & mask;
    x ^= x >> half;
    return ((x * inverses_[0]) ^ forward_.flips) & mask;
  }

  const permutation& forward() const noexcept { return forward_; }
  const std::array<std::uint32_t, 3>& inverses() const noexcept { return inverses_; }

 private:
  permutation forward_;
  std::array<std::uint32_t, 3> inverses_{};
};

/// Bits after the point of a logarithm.
inline constexpr unsigned log_places = 40;

namespace log_detail {

inline constexpr unsigned index_bits = 10;

// log2(1 + i / 1024) for i in 0..1024, by repeated squaring, rounded down.
inline constexpr auto table = [] {
  std::array<std::uint64_t, (1U << index_bits) + 1> result{};
  for (std::uint64_t i = 0; i < (1U << index_bits); ++i) {
    std::uint64_t x = ((1U << index_bits) + i) << (31 - index_bits);  // In [1, 2), 31 places.
    std::uint64_t log = 0;
    for (unsigned place = 0; place < log_places; ++place) {
      x = (x * x) >> 31;
      const std::uint64_t bit = x >> 32;  // Whether the square is 2 or more.
      x >>= bit;
      log = (log << 1) | bit;
    }
    result[i] = log;
  }
  result[1U << index_bits] = std::uint64_t{1} << log_places;
  return result;
}();

}  // namespace log_detail

/// -log2(1 - draw / 2^bits), 40 places after the point, for draw below 2^bits and bits up to 58.
/// Linear between the values of a table; never falls where draw rises.
constexpr std::uint64_t exponential(std::uint64_t draw, unsigned bits) noexcept {
  using log_detail::index_bits;
  using log_detail::table;
  const std::uint64_t rest = (std::uint64_t{1} << bits) - draw;
  const auto whole = static_cast<unsigned>(std::bit_width(rest)) - 1;
  const std::uint64_t places = whole == 0 ? 0 : rest << (64 - whole);  // After the leading one.
  const std::uint64_t index = places >> (64 - index_bits);
  const std::uint64_t between = (places << index_bits) >> 32;
  const std::uint64_t step = table[index + 1] - table[index];
  const std::uint64_t log =
      (std::uint64_t{whole} << log_places) + table[index] + ((step * between) >> 32);
  return (std::uint64_t{bits} << log_places) - log;
}

/// Bits of the fraction that is added to a rank.
inline constexpr unsigned fraction_bits = 32;

/// A rank and a fraction: the position of a segment in a node's order, to 2^-32.
constexpr std::uint64_t draw_of(const permutation& p, std::uint32_t segment,
                                unsigned bits) noexcept {
  std::uint32_t x = (segment ^ p.salt) * 0x9e37'79b1U;
  x = (x ^ (x >> 15) ^ p.flips) * 0x85eb'ca6bU;
  x ^= x >> 13;
  return (std::uint64_t{p.rank(segment, bits)} << fraction_bits) | x;
}

/// 2^64 / weight, to divide by a multiplication.
constexpr std::uint64_t reciprocal_of(std::uint32_t thousandths) noexcept {
  return ~std::uint64_t{0} / thousandths;
}

/// The score of a draw: smaller is better. Never falls where the draw rises.
constexpr std::uint64_t score_of(std::uint64_t draw, unsigned bits,
                                 std::uint64_t reciprocal) noexcept {
  __extension__ using wide = unsigned __int128;
  // 40 places and 6 bits before the point, scaled by 2^17, the width of a weight.
  const std::uint64_t clock = exponential(draw, bits + fraction_bits) << 17;
  return static_cast<std::uint64_t>((wide{clock} * reciprocal) >> 64);
}

}  // namespace lifering::ring_detail
