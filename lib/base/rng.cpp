#include "base/rng.hpp"

#include <bit>

#include "base/check.hpp"

namespace lifering::base {

rng::rng(std::uint64_t seed) noexcept {
  for (auto& word : state_) {  // splitmix64, as the generator's authors advise
    seed += 0x9e3779b97f4a7c15u;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    word = z ^ (z >> 31);
  }
}

std::uint64_t rng::next() noexcept {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t rng::below(std::uint64_t bound) noexcept {
  LIFERING_CHECK(bound > 0);
  __extension__ using wide = unsigned __int128;
  wide product = static_cast<wide>(next()) * bound;
  if (auto low = static_cast<std::uint64_t>(product); low < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (low < threshold) {
      product = static_cast<wide>(next()) * bound;
      low = static_cast<std::uint64_t>(product);
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

}  // namespace lifering::base
