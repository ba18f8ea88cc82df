// Keys that tests know.
#pragma once

#include <array>
#include <cstdint>

#include "wire/secret_key.hpp"

namespace lifering::wire::testing {

/// The key of 32 times this byte.
inline key_ptr test_key(std::uint8_t byte) {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(byte);
  return secret_key::from_bytes(bytes);
}

}  // namespace lifering::wire::testing
