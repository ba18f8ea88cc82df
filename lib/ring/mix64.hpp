// 64-bit hashes for fingerprints and for the permutations of `slots`. Frozen: peers compare them.
#pragma once

#include <cstdint>
#include <string_view>

namespace lifering::ring_detail {

/// A bijection in which each output bit depends on each input bit (variant 13 of Stafford's
/// finalisers, as in SplitMix64).
constexpr std::uint64_t mix64(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9U;
  value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11ebU;
  return value ^ (value >> 31);
}

/// Hashes a sequence of numbers and strings. Each string enters with its length, so that "ab", "c"
/// and "a", "bc" differ.
class hash64 {
 public:
  /// `domain` keeps hashes for different purposes apart.
  explicit constexpr hash64(std::uint64_t domain) noexcept : state_(mix64(domain + increment)) {}

  constexpr hash64& add(std::uint64_t number) noexcept {
    state_ = mix64((state_ ^ mix64(number + increment)) + increment);
    return *this;
  }

  constexpr hash64& add(std::string_view text) noexcept {
    std::uint64_t word = 0;
    unsigned filled = 0;
    for (const char c : text) {
      word |= std::uint64_t{static_cast<unsigned char>(c)} << (8 * filled);
      if (++filled == 8) {
        add(word);
        word = 0;
        filled = 0;
      }
    }
    return add(word).add(text.size());
  }

  constexpr std::uint64_t value() const noexcept { return state_; }

 private:
  static constexpr std::uint64_t increment = 0x9e37'79b9'7f4a'7c15U;
  std::uint64_t state_;
};

}  // namespace lifering::ring_detail
