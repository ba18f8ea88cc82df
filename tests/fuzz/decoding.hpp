// What must hold for every packet that the codec accepts, whoever made it.
#pragma once

#include <vector>

#include "fuzz/fuzz_target.hpp"
#include "swim/message.hpp"
#include "wire/codec.hpp"

namespace lifering::fuzz {

/// An accepted packet can be sent on: it encodes within its bound, and means the same again.
inline void check_accepted(wire::codec& with, const swim::packet& accepted) {
  static swim::packet again;
  static std::vector<std::uint8_t> bytes;
  bytes.clear();
  with.encode(accepted, bytes);
  LIFERING_CHECK(bytes.size() <= with.overhead() + swim::size_bound(accepted));
  LIFERING_CHECK(with.decode(bytes, again) == wire::decode_error::none);
  LIFERING_CHECK(again == accepted);
}

}  // namespace lifering::fuzz
