// The envelope: what stands before every Protobuf body, read without parsing any of it.
//
//   offset  bytes
//        0      2  "lr"
//        2      1  version of the sender's protocol
//        3      1  oldest version whose reader understands this packet
//        4      1  flags: bit 0 is "sealed", the others are 0
//        5      1  c, the length of the cluster id, 1 to 64
//        6      4  n, the length of the payload, big-endian
//       10      c  cluster id
//   10 + c      n  payload: the body, or when sealed its nonce, its ciphertext and its tag
//
// The first ten bytes tell the length of the whole, so an envelope is its own frame on a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "wire/decode_error.hpp"

namespace lifering::wire {

/// The version that this build speaks, and the oldest that it still reads.
inline constexpr std::uint8_t protocol_version = 1;
inline constexpr std::uint8_t oldest_version = 1;
/// The oldest reader that understands what this build writes.
inline constexpr std::uint8_t oldest_reader = 1;

inline constexpr std::size_t envelope_prefix_size = 10;

using bytes_view = std::span<const std::uint8_t>;

/// The parts of an envelope; views into the bytes that were read.
struct envelope {
  bool sealed = false;
  std::string_view cluster_id;
  bytes_view header;  ///< All before the payload; what a seal authenticates beside it.
  bytes_view payload;
};

/// Learns from the first bytes how long the whole packet is. `truncated` says that there are fewer
/// than `envelope_prefix_size` of them and that those there are could begin a packet.
decode_error read_prefix(bytes_view bytes, std::size_t& total_size) noexcept;

/// Takes exactly one packet apart.
decode_error read_envelope(bytes_view bytes, envelope& out) noexcept;

/// Appends the header of a payload of that size.
void append_header(std::string_view cluster_id, bool sealed, std::size_t payload_size,
                   std::vector<std::uint8_t>& out);

}  // namespace lifering::wire
