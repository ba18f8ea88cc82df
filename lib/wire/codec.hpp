// Packets to bytes and back.
//
// Every datagram and every stream frame is an envelope around one Protobuf body; lib/wire/README.md
// has the picture. The envelope gives the body's length, so that trailing bytes are refused outside
// Protobuf, and carries the cluster id, so that foreign packets are told apart before anything is
// parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "swim/message.hpp"

namespace lifering::wire {

/// The version that this build speaks, and the oldest that it still reads.
inline constexpr std::uint8_t protocol_version = 1;
inline constexpr std::uint8_t oldest_version = 1;

/// Why bytes were not accepted.
enum class decode_error : std::uint8_t {
  none,
  truncated,       ///< Shorter than it says.
  trailing_bytes,  ///< Longer than it says.
  not_ours,        ///< No lifering packet at all.
  wrong_version,
  wrong_cluster,
  malformed_body,  ///< Protobuf could not parse it.
  over_limit,      ///< A field exceeds its limit.
  bad_field,       ///< A field has an impossible value (an unspecified address, an empty name).
};

std::string_view to_string(decode_error error) noexcept;

/// Encodes and decodes for one cluster. Reuses its buffers; not thread-safe.
class codec {
 public:
  explicit codec(std::string cluster_id);
  ~codec();
  codec(codec&&) noexcept;
  codec& operator=(codec&&) noexcept;

  /// Bytes that the envelope adds to a packet's size bound.
  std::size_t overhead() const noexcept;

  /// Appends the encoded packet to `out`.
  void encode(const swim::packet& from, std::vector<std::uint8_t>& out);

  /// Reads exactly one packet into `to`, whose storage is reused. On an error `to` is unspecified.
  decode_error decode(std::span<const std::uint8_t> from, swim::packet& to);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace lifering::wire
