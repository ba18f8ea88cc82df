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
#include <string>
#include <string_view>
#include <vector>

#include "swim/message.hpp"
#include "wire/decode_error.hpp"
#include "wire/envelope.hpp"
#include "wire/limits.hpp"

namespace lifering::wire {

/// Encodes and decodes for one cluster. Reuses its buffers; not thread-safe.
class codec {
 public:
  /// `cluster_id`: 1 to `swim::cluster_id_max` bytes.
  explicit codec(std::string cluster_id);
  ~codec();
  codec(codec&&) noexcept;
  codec& operator=(codec&&) noexcept;

  /// Bytes that the envelope adds to a packet's size bound.
  std::size_t overhead() const noexcept;

  /// Appends the encoded packet to `out`. The packet keeps the limits of swim/message.hpp and of
  /// limits.hpp.
  void encode(const swim::packet& from, std::vector<std::uint8_t>& out);

  /// Reads exactly one packet into `to`, whose storage is reused. On an error `to` is unspecified.
  ///
  /// Whether an address or a name is one that a member may have is for the protocol to judge, since
  /// it can answer with a reason; here only what can't be held at all is refused.
  decode_error decode(bytes_view from, swim::packet& to);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The cluster id of a packet that is otherwise unread, to say whose packets arrive here by
/// mistake; empty if it is no lifering packet. Untrusted bytes: escape them before printing.
std::string_view peek_cluster_id(bytes_view packet) noexcept;

}  // namespace lifering::wire
