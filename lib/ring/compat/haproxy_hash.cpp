// sdbm, djb2, wt6 and numbers as HAProxy reads them.
#include "ring/compat/haproxy_hash.hpp"

#include <bit>
#include <lifering/hash.hpp>
#include <limits>

namespace lifering::compat {

namespace {

/// sdbm: hash * 65599 + byte.
std::uint32_t sdbm(std::string_view key) noexcept {
  std::uint32_t hash = 0;
  for (const char c : key) {
    hash = static_cast<unsigned char>(c) + hash * 65599U;
  }
  return hash;
}

/// Bernstein's: hash * 33 + byte, from 5381.
std::uint32_t djb2(std::string_view key) noexcept {
  std::uint32_t hash = 5381;
  for (const char c : key) {
    hash = hash * 33 + static_cast<unsigned char>(c);
  }
  return hash;
}

/// Tarreau's, whose rotations depend on what was read.
std::uint32_t wt6(std::string_view key) noexcept {
  std::uint32_t h0 = 0xa53c'965a;
  std::uint32_t h1 = 0x5ca6'953a;
  std::uint32_t step0 = 6;
  std::uint32_t step1 = 18;
  for (const char c : key) {
    const std::uint32_t byte = static_cast<unsigned char>(c);
    h0 = ~(h0 ^ byte);
    h1 = ~(h1 + byte);
    const std::uint32_t turned = std::rotl(h1, static_cast<int>(step0));
    h1 = std::rotl(h0, static_cast<int>(step1));
    h0 = turned;
    const std::uint32_t steps = ((h0 >> 16) ^ h1) & 0xffff;
    step0 = steps & 0x1f;
    step1 = steps >> 11;
  }
  return h0 ^ h1;
}

/// read_int64(): a sign, digits as far as they go, the nearest there is for what is too large.
std::uint32_t number(std::string_view key) noexcept {
  constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
  const bool negative = key.starts_with('-');
  if (negative || key.starts_with('+')) {
    key.remove_prefix(1);
  }
  std::uint64_t value = 0;
  for (const char c : key) {
    if (c < '0' || c > '9') {
      break;
    }
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (largest - digit) / 10) {
      value = negative ? largest + 1 : largest;
      break;
    }
    value = value * 10 + digit;
  }
  return static_cast<std::uint32_t>(negative ? 0 - value : value);
}

}  // namespace

std::uint32_t haproxy_hash(haproxy::hashes hash, std::string_view key) noexcept {
  switch (hash) {
    case haproxy::hashes::sdbm:
      return sdbm(key);
    case haproxy::hashes::djb2:
      return djb2(key);
    case haproxy::hashes::wt6:
      return wt6(key);
    case haproxy::hashes::crc32:
      return crc32(key);
    case haproxy::hashes::none:
      break;
  }
  return number(key);
}

}  // namespace lifering::compat
