// Why bytes were not accepted: one reason for each counter of dropped input.
#pragma once

#include <cstdint>
#include <string_view>

namespace lifering::wire {

enum class decode_error : std::uint8_t {
  none,
  truncated,       ///< Shorter than it says.
  trailing_bytes,  ///< Longer than it says.
  not_ours,        ///< No lifering packet at all.
  wrong_version,   ///< Needs a reader that this build is not.
  wrong_cluster,
  malformed_body,  ///< Protobuf could not parse it.
  over_limit,      ///< A field, a count or the whole exceeds its limit.
  bad_field,       ///< A field has an impossible value (an empty name, an address of 5 bytes).
  not_sealed,      ///< Plain, where sealed packets are required.
  cannot_open,     ///< Sealed, and no key that we hold opens it.
  repeated,        ///< Opened, but it came before, or is too old to say.
};

std::string_view to_string(decode_error error) noexcept;

}  // namespace lifering::wire
