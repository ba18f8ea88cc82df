// MurmurHash2, MurmurHash3 and MurmurHash64A.
#include "ring/compat/murmur.hpp"

#include <bit>

namespace lifering::compat {

namespace {

/// `count` bytes, at most as many as the word has, the first one lowest.
template <class Word>
Word read(std::string_view bytes, std::size_t from, std::size_t count) noexcept {
  Word word = 0;
  for (std::size_t i = 0; i < count; ++i) {
    word |= Word{static_cast<unsigned char>(bytes[from + i])} << (8 * i);
  }
  return word;
}

}  // namespace

std::uint32_t murmur2(std::string_view bytes, std::uint32_t seed) noexcept {
  constexpr std::uint32_t m = 0x5bd1'e995;
  std::uint32_t hash = seed ^ static_cast<std::uint32_t>(bytes.size());
  std::size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    auto word = read<std::uint32_t>(bytes, at, 4) * m;
    word = (word ^ (word >> 24)) * m;
    hash = (hash * m) ^ word;
  }
  if (at < bytes.size()) {
    hash = (hash ^ read<std::uint32_t>(bytes, at, bytes.size() - at)) * m;
  }
  hash = (hash ^ (hash >> 13)) * m;
  return hash ^ (hash >> 15);
}

std::uint32_t murmur3(std::string_view bytes, std::uint32_t seed) noexcept {
  const auto scramble = [](std::uint32_t word) {
    return std::rotl(word * 0xcc9e'2d51U, 15) * 0x1b87'3593U;
  };
  std::uint32_t hash = seed;
  std::size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    hash = std::rotl(hash ^ scramble(read<std::uint32_t>(bytes, at, 4)), 13) * 5 + 0xe654'6b64U;
  }
  hash ^= scramble(read<std::uint32_t>(bytes, at, bytes.size() - at));
  hash ^= static_cast<std::uint32_t>(bytes.size());
  hash = (hash ^ (hash >> 16)) * 0x85eb'ca6bU;
  hash = (hash ^ (hash >> 13)) * 0xc2b2'ae35U;
  return hash ^ (hash >> 16);
}

std::uint64_t murmur2_64(std::string_view bytes, std::uint64_t seed) noexcept {
  constexpr std::uint64_t m = 0xc6a4'a793'5bd1'e995U;
  std::uint64_t hash = seed ^ (bytes.size() * m);
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    auto word = read<std::uint64_t>(bytes, at, 8) * m;
    word = (word ^ (word >> 47)) * m;
    hash = (hash ^ word) * m;
  }
  if (at < bytes.size()) {
    hash = (hash ^ read<std::uint64_t>(bytes, at, bytes.size() - at)) * m;
  }
  hash = (hash ^ (hash >> 47)) * m;
  return hash ^ (hash >> 47);
}

}  // namespace lifering::compat
