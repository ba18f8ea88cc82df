// Hashes of memcached clients, with the turns that those have taken: bytes that are signed, a
// 64-bit FNV in 32 bits, fifteen bits of a CRC.
#include "ring/compat/memcached_hash.hpp"

#include <bit>
#include <lifering/hash.hpp>

#include "base/check.hpp"
#include "ring/compat/crc16.hpp"
#include "ring/compat/md5.hpp"
#include "ring/compat/murmur.hpp"

namespace lifering::compat {

namespace {

std::uint32_t plain(char c) noexcept {
  return static_cast<unsigned char>(c);
}

/// `char` is signed on x86, and the clients widen it so.
std::uint32_t widened(char c) noexcept {
  return static_cast<std::uint32_t>(std::int32_t{static_cast<signed char>(c)});
}

/// Jenkins' one-at-a-time.
std::uint32_t one_at_a_time(std::string_view bytes) noexcept {
  std::uint32_t hash = 0;
  for (const char c : bytes) {
    hash += widened(c);
    hash += hash << 10;
    hash ^= hash >> 6;
  }
  hash += hash << 3;
  hash ^= hash >> 11;
  return hash + (hash << 15);
}

/// Fowler, Noll and Vo: FNV-1 multiplies first, FNV-1a last. Of the 64-bit ones only the lower half
/// is kept, which depends on the lower halves of its numbers alone.
template <bool MultiplyFirst>
std::uint32_t fnv(std::string_view bytes, std::uint32_t start, std::uint32_t prime) noexcept {
  std::uint32_t hash = start;
  for (const char c : bytes) {
    hash = MultiplyFirst ? (hash * prime) ^ widened(c) : (hash ^ widened(c)) * prime;
  }
  return hash;
}

constexpr std::uint32_t fnv64_start = 0x8422'2325;
constexpr std::uint32_t fnv64_prime = 0x1b3;
constexpr std::uint32_t fnv32_start = 2'166'136'261;
constexpr std::uint32_t fnv32_prime = 16'777'619;

/// Hsieh's SuperFastHash.
std::uint32_t hsieh(std::string_view bytes) noexcept {
  const auto pair = [bytes](std::size_t at) {
    return plain(bytes[at]) | plain(bytes[at + 1]) << 8;
  };
  std::uint32_t hash = 0;
  std::size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    hash += pair(at);
    hash = (hash << 16) ^ (pair(at + 2) << 11) ^ hash;
    hash += hash >> 11;
  }
  switch (bytes.size() - at) {
    case 3:
      hash += pair(at);
      hash ^= hash << 16;
      hash ^= widened(bytes[at + 2]) << 18;
      hash += hash >> 11;
      break;
    case 2:
      hash += pair(at);
      hash ^= hash << 11;
      hash += hash >> 17;
      break;
    case 1:
      hash += plain(bytes[at]);
      hash ^= hash << 10;
      hash += hash >> 1;
      break;
    default:
      break;
  }
  hash ^= hash << 3;
  hash += hash >> 5;
  hash ^= hash << 4;
  hash += hash >> 17;
  hash ^= hash << 25;
  return hash + (hash >> 6);
}

/// Jenkins' lookup3, with 13 to start from.
std::uint32_t jenkins(std::string_view bytes) noexcept {
  std::uint32_t a = 0xdead'beef + static_cast<std::uint32_t>(bytes.size()) + 13;
  std::uint32_t b = a;
  std::uint32_t c = a;
  const auto add_word = [bytes](std::uint32_t& to, std::size_t at) {
    for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i) {
      to += plain(bytes[at + i]) << (8 * i);
    }
  };
  std::size_t at = 0;
  for (; bytes.size() - at > 12; at += 12) {
    add_word(a, at);
    add_word(b, at + 4);
    add_word(c, at + 8);
    const auto step = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t& z, int turn) {
      x = (x - z) ^ std::rotl(z, turn);
      z += y;
    };
    step(a, b, c, 4);
    step(b, c, a, 6);
    step(c, a, b, 8);
    step(a, b, c, 16);
    step(b, c, a, 19);
    step(c, a, b, 4);
  }
  if (at == bytes.size()) {
    return c;
  }
  add_word(a, at);
  add_word(b, at + 4);
  add_word(c, at + 8);
  const auto step = [](std::uint32_t& x, std::uint32_t y, int turn) {
    x = (x ^ y) - std::rotl(y, turn);
  };
  step(c, b, 14);
  step(a, c, 11);
  step(b, a, 25);
  step(c, b, 16);
  step(a, c, 4);
  step(b, a, 14);
  step(c, b, 24);
  return c;
}

std::uint32_t murmur_seed(std::string_view bytes) noexcept {
  return 0xdead'beef * static_cast<std::uint32_t>(bytes.size());
}

}  // namespace

std::uint32_t memcached_hash(ketama::hashes hash, std::string_view bytes) noexcept {
  using hashes = ketama::hashes;
  switch (hash) {
    case hashes::automatic:
      break;
    case hashes::one_at_a_time:
      return one_at_a_time(bytes);
    case hashes::md5:
      return md5_words(bytes)[0];
    case hashes::crc:
      return crc32(bytes) >> 16 & 0x7fff;
    case hashes::crc16:
      return crc16_uncut(bytes);
    case hashes::crc32a:
      return crc32(bytes);
    case hashes::fnv1_64:
      return fnv<true>(bytes, fnv64_start, fnv64_prime);
    case hashes::fnv1a_64:
      return fnv<false>(bytes, fnv64_start, fnv64_prime);
    case hashes::fnv1_32:
      return fnv<true>(bytes, fnv32_start, fnv32_prime);
    case hashes::fnv1a_32:
      return fnv<false>(bytes, fnv32_start, fnv32_prime);
    case hashes::hsieh:
      return hsieh(bytes);
    case hashes::murmur:
      return murmur2(bytes, murmur_seed(bytes));
    case hashes::murmur3:
      return murmur3(bytes, murmur_seed(bytes));
    case hashes::jenkins:
      return jenkins(bytes);
  }
  LIFERING_CHECK(hash != hashes::automatic);
  return 0;
}

}  // namespace lifering::compat
