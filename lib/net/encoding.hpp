// A packet that was encoded and goes on its way as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lifering::net {

/// To be used by way of base::scratch.
struct encoding {
  std::vector<std::uint8_t> bytes;

  /// Keeps the storage, but not that of a large frame.
  void clear() {
    constexpr std::size_t kept_max = std::size_t{64} << 10;
    if (bytes.capacity() > kept_max) bytes = std::vector<std::uint8_t>();
    bytes.clear();
  }
};

}  // namespace lifering::net
