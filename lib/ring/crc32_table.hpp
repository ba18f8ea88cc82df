// The tables of the portable CRC-32, made at compile time, and what the other ways borrow from it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace lifering::ring_detail {

/// The polynomial 04C11DB7 with its bits reversed, as the bits of a byte run on the wire.
inline constexpr std::uint32_t crc32_polynomial = 0xedb8'8320U;

/// tables[0] advances a CRC by one byte; tables[k] by that byte and k zero bytes, so that eight
/// bytes can be looked up independently (Kounavis and Berry, 2005).
inline constexpr auto crc32_tables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? crc32_polynomial : 0);
    }
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

/// Advances an inverted CRC by one byte.
constexpr std::uint32_t crc32_byte(std::uint32_t state, unsigned char byte) noexcept {
  return (state >> 8) ^ crc32_tables[0][(state ^ byte) & 0xff];
}

/// Loads without regard to alignment; the first byte is the lowest on every machine.
template <class Word>
inline Word load_little(const char* bytes) noexcept {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) {
    if constexpr (sizeof(Word) == 8) {
      word = __builtin_bswap64(word);
    } else {
      static_assert(sizeof(Word) == 4);
      word = __builtin_bswap32(word);
    }
  }
  return word;
}

}  // namespace lifering::ring_detail
