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
#include "wire/keyring.hpp"
#include "wire/limits.hpp"

namespace lifering::wire {

/// What is known of a packet beside its content, for who must decide what it may change.
///
/// A sealed packet comes from a holder of a key, once. What the seal can't tell is when: whoever
/// records packets can bring them to a node that wasn't there or has forgotten. So a life that the
/// receiver's member table doesn't know must prove that it lives now, by echoing a number that the
/// receiver has just drawn, before its packets change anything; lifering.proto keeps two fields of
/// Packet for that. Where nothing is sealed there is nothing to prove by.
struct receipt {
  bool sealed = false;
  bool first_of_life = false;  ///< Sealed, and no earlier packet of this life is remembered.
};

/// Encodes and decodes for one cluster and one life of one member: packets are numbered here, so a
/// new life has a new codec, and all its packets go through the same one. Reuses its buffers; not
/// thread-safe, except that the keyring may change from any thread at any time.
class codec {
 public:
  /// `cluster_id`: 1 to `swim::cluster_id_max` bytes. Without a keyring nothing is sealed or
  /// opened.
  explicit codec(std::string cluster_id, std::shared_ptr<const keyring> keys = nullptr);
  ~codec();
  codec(codec&&) noexcept;
  codec& operator=(codec&&) noexcept;

  /// Bytes that the envelope, and the seal if the mode of the moment seals, add to a packet's size
  /// bound. When the mode changes, so does what a datagram has room for.
  std::size_t overhead() const;

  /// Appends the encoded packet to `out`. The packet keeps the limits of swim/message.hpp and of
  /// limits.hpp.
  void encode(const swim::packet& from, std::vector<std::uint8_t>& out);

  /// Reads exactly one packet into `to`, whose storage is reused. On an error `to` is unspecified.
  ///
  /// Whether an address or a name is one that a member may have is for the protocol to judge, since
  /// it can answer with a reason; here only what can't be held at all is refused.
  decode_error decode(bytes_view from, swim::packet& to);

  /// About the packet that decode() accepted last.
  receipt last_receipt() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The cluster id of a packet that is otherwise unread, to say whose packets arrive here by
/// mistake; empty if it is no lifering packet. Untrusted bytes: escape them before printing.
std::string_view peek_cluster_id(bytes_view packet) noexcept;

}  // namespace lifering::wire
