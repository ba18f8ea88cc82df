// What fuzz targets share: libFuzzer's entry point and a check that survives every build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.hpp"

namespace lifering::fuzz {

using bytes_view = std::span<const std::uint8_t>;

inline std::string_view as_text(bytes_view bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One run over one input. Each target defines it; whatever it must never do is a LIFERING_CHECK.
void run(bytes_view input);

}  // namespace lifering::fuzz
