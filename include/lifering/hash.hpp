// The hashes that decide where keys live. Their values are frozen: they are the same on every
// machine and in every version of lifering, since peers must agree on them.
#pragma once

#include <cstdint>
#include <lifering/config.hpp>
#include <string_view>

namespace lifering {

/// CRC-32 as in IEEE 802.3, zlib, gzip and PNG: polynomial 04C11DB7, reflected. The check value of
/// "123456789" is cbf43926.
///
/// Computed in hardware where the processor can, chosen once at run time: carry-less multiplication
/// on x86-64, the CRC instructions on ARMv8, eight tables elsewhere. (The `crc32` instruction of
/// SSE4.2 is of no use here: it computes another polynomial.) All ways give the same values, and
/// none reads outside the given bytes.
///
/// Safe from any thread, wait-free, allocates nothing. The empty string gives 0.
LIFERING_API std::uint32_t crc32(std::string_view bytes) noexcept;

/// The CRC of two strings one after the other, from the CRC of the first:
/// `crc32_append(crc32(a), b) == crc32(a + b)`.
LIFERING_API std::uint32_t crc32_append(std::uint32_t crc, std::string_view bytes) noexcept;

/// A bijection of 32-bit values that makes each output bit depend on each input bit.
///
/// CRC-32 is linear, so names of equal length get ring points that are translates of each other,
/// and shares come out uneven however many points there are; this finaliser breaks the pattern and,
/// being bijective, makes no two points meet that didn't meet before. It is the one of MurmurHash3
/// (Appleby). Placements `mixed` and `slots` use it, `classic` does not.
constexpr std::uint32_t mix32(std::uint32_t value) noexcept {
  value ^= value >> 16;
  value *= 0x85eb'ca6bU;
  value ^= value >> 13;
  value *= 0xc2b2'ae35U;
  value ^= value >> 16;
  return value;
}

}  // namespace lifering
