// The ways to compute CRC-32 (IEEE), each usable alone so that tests can hold them against each
// other. `lifering::crc32` runs the best one that this processor has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lifering::ring_detail {

/// Continues a CRC: `crc` is that of what came before, 0 at the start. Reads exactly `size` bytes.
using crc32_function = std::uint32_t (*)(std::uint32_t crc, const char* bytes, std::size_t size);

/// The CRC of each of `count` keys, for the batch lookup: one call instead of many.
using crc32_many_function = void (*)(const std::string_view* keys, std::size_t count,
                                     std::uint32_t* crcs);

struct crc32_path {
  const char* name;
  crc32_function run;
  std::uint32_t (*hash)(std::string_view key);  ///< `run` from the start, for one key.
  crc32_many_function run_many;
  bool (*supported)() noexcept;
};

/// All ways compiled in, the best one first; the last is portable and always supported.
std::span<const crc32_path> crc32_paths() noexcept;

/// The first supported one. Decided once.
const crc32_path& crc32_best() noexcept;

// Compiled for their architecture only; see the files of that name.
extern const crc32_path crc32_x86_wide;
extern const crc32_path crc32_x86;
extern const crc32_path crc32_arm;
extern const crc32_path crc32_sliced;

}  // namespace lifering::ring_detail
