// HAProxy's hashes of keys, and the mixing that makes points of numbers.
#pragma once

#include <cstdint>
#include <lifering/compat.hpp>
#include <string_view>

namespace lifering::compat {

std::uint32_t haproxy_hash(haproxy::hashes hash, std::string_view key) noexcept;

/// full_hash(): Jenkins' mix of an integer in six steps, times 3221225473. A bijection.
constexpr std::uint32_t haproxy_mix(std::uint32_t a) noexcept {
  a = (a + 0x7ed5'5d16U) + (a << 12);
  a = (a ^ 0xc761'c23cU) ^ (a >> 19);
  a = (a + 0x1656'67b1U) + (a << 5);
  a = (a + 0xd3a2'646cU) ^ (a << 9);
  a = (a + 0xfd70'46c5U) + (a << 3);
  a = (a ^ 0xb55a'4f09U) ^ (a >> 16);
  return a * 3'221'225'473U;
}

}  // namespace lifering::compat
