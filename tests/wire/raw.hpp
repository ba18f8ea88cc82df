// Bodies written field by field, as a peer might that keeps no limit, and the envelope around them.
// Independent of the generated code, so that field numbers are checked too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/envelope.hpp"

namespace lifering::wire::testing {

inline std::string raw_varint(std::uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7)
    out.push_back(static_cast<char>((value & 127) | 128));
  out.push_back(static_cast<char>(value));
  return out;
}

inline std::string raw_number(unsigned field, std::uint64_t value) {
  return raw_varint(field << 3) + raw_varint(value);
}

/// A text or a message in a message.
inline std::string raw_bytes(unsigned field, std::string_view value) {
  return raw_varint(field << 3 | 2) + raw_varint(value.size()) + std::string(value);
}

inline std::string raw_fixed64(unsigned field, std::uint64_t value) {
  std::string out = raw_varint(field << 3 | 1);
  for (unsigned shift = 0; shift < 64; shift += 8) {
    out.push_back(static_cast<char>(value >> shift));
  }
  return out;
}

inline std::vector<std::uint8_t> in_envelope(std::string_view cluster_id, std::string_view body) {
  std::vector<std::uint8_t> out;
  append_header(cluster_id, false, body.size(), out);
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

}  // namespace lifering::wire::testing
