// A small seeded random generator, the same on every platform and compiler: xoshiro256** by
// Blackman and Vigna, seeded through splitmix64. Not for secrets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace lifering::base {

class rng {
 public:
  explicit rng(std::uint64_t seed) noexcept;

  /// 64 uniform bits.
  std::uint64_t next() noexcept;

  /// Uniform in [0, bound). `bound` is not 0. Lemire's multiply-and-reject: no modulo bias.
  std::uint64_t below(std::uint64_t bound) noexcept;

  /// True with probability numerator / denominator.
  bool chance(std::uint64_t numerator, std::uint64_t denominator) noexcept {
    return below(denominator) < numerator;
  }

  /// Fisher-Yates; std::shuffle may differ between standard libraries.
  template <class T>
  void shuffle(std::span<T> values) noexcept {
    for (std::size_t i = values.size(); i > 1; --i) {
      using std::swap;
      swap(values[i - 1], values[static_cast<std::size_t>(below(i))]);
    }
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace lifering::base
