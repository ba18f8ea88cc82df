// CRC-16 of XMODEM, polynomial 0x1021: the slots of Redis Cluster, and twemproxy's crc16.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lifering::compat {

inline constexpr auto crc16_table = [] {
  std::array<std::uint16_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021U : 0U);
    }
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

/// What is above the lowest 16 bits is what twemproxy forgets to cut off.
constexpr std::uint32_t crc16_uncut(std::string_view bytes) noexcept {
  std::uint32_t crc = 0;
  for (const char c : bytes) {
    crc = (crc << 8) ^ crc16_table[((crc >> 8) ^ static_cast<unsigned char>(c)) & 0xff];
  }
  return crc;
}

constexpr std::uint32_t crc16(std::string_view bytes) noexcept {
  return crc16_uncut(bytes) & 0xffff;
}
static_assert(crc16("123456789") == 0x31c3);

}  // namespace lifering::compat
