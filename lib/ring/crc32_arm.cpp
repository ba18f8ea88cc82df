// CRC-32 by the CRC instructions of ARMv8, which know this polynomial.
#if defined(__aarch64__)

#include <arm_acle.h>
#include <sys/auxv.h>

#include <cstring>

#include "ring/crc32.hpp"
#include "ring/crc32_table.hpp"

#define LIFERING_TARGET_CRC __attribute__((target("+crc")))

namespace lifering::ring_detail {

namespace {

LIFERING_TARGET_CRC std::uint32_t instructions(std::uint32_t crc, const char* bytes,
                                               std::size_t size) {
  std::uint32_t state = ~crc;
  for (; size >= 8; size -= 8, bytes += 8) {
    state = __crc32d(state, load_little<std::uint64_t>(bytes));
  }
  if ((size & 4) != 0) {
    state = __crc32w(state, load_little<std::uint32_t>(bytes));
    bytes += 4;
  }
  for (size &= 3; size > 0; --size, ++bytes) {
    state = __crc32b(state, static_cast<std::uint8_t>(*bytes));
  }
  return ~state;
}

LIFERING_TARGET_CRC std::uint32_t instructions_hash(std::string_view key) {
  return instructions(0, key.data(), key.size());
}

LIFERING_TARGET_CRC void instructions_many(const std::string_view* keys, std::size_t count,
                                           std::uint32_t* crcs) {
  for (std::size_t i = 0; i < count; ++i) {
    crcs[i] = instructions(0, keys[i].data(), keys[i].size());
  }
}

bool has_instructions() noexcept {
#if defined(__linux__)
  constexpr unsigned long hwcap_crc32 = 1UL << 7;  // From asm/hwcap.h.
  return (getauxval(AT_HWCAP) & hwcap_crc32) != 0;
#else
  return false;
#endif
}

}  // namespace

constinit const crc32_path crc32_arm{"armv8-crc", instructions, instructions_hash,
                                     instructions_many, has_instructions};

}  // namespace lifering::ring_detail

#endif  // __aarch64__
