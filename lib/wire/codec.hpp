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

/// How two lives prove to each other that they live now: each draws a number for the other, which
/// echoes it. 0 is none.
struct proof {
  std::uint64_t challenge = 0;
  std::uint64_t echo = 0;
};

/// What a proof adds to a packet at most.
inline constexpr std::size_t proof_size_max = 18;

/// What is known of a packet beside its content, for who must decide what it may change.
///
/// A sealed packet comes from a holder of a key, once. What the seal can't tell is when: whoever
/// records packets can bring them to a node that wasn't there or has forgotten. So a life must have
/// echoed a number that the receiver has drawn before its packets change anything. The codec
/// remembers who did; whom to ask, and what counts as an echo, is for its user, who knows addresses
/// and the time. Where nothing is sealed there is nothing to prove by.
struct receipt {
  bool sealed = false;
  bool first_of_life = false;  ///< Sealed, and no earlier packet of this life is remembered.
  bool proven = false;         ///< Sealed, and this life has proved that it lives.
  std::uint64_t number = 0;    ///< Sealed: which packet of its life it is.
  wire::proof proof;
};

/// Encodes and decodes for one cluster and one life of one member: packets are numbered here, so a
/// new life has a new codec, and all its packets go through the same one. Not
/// thread-safe, except that the keyring may change from any thread at any time.
class codec {
 public:
  /// `cluster_id`: 1 to `swim::cluster_id_max` bytes. Without a keyring nothing is sealed or
  /// opened.
  explicit codec(std::string cluster_id, std::shared_ptr<const keyring> keys = nullptr);
  ~codec();
  codec(codec&&) noexcept;
  codec& operator=(codec&&) noexcept;

  /// Bytes that the envelope adds to a packet's size bound, and with a keyring the seal and what
  /// vouches for others, in every mode: a datagram that was filled in one mode may be sent in
  /// another. A frame may have more that vouches.
  std::size_t overhead() const;

  /// Whether packets are sealed at this moment.
  bool seals() const;

  /// Appends the encoded packet to `out`. The packet keeps the limits of swim/message.hpp and of
  /// limits.hpp. A proof takes up to proof_size_max bytes that overhead() doesn't count; packets
  /// that fill a datagram have none.
  void encode(const swim::packet& from, std::vector<std::uint8_t>& out, const proof& with = {});

  /// The same for a frame of a stream, which has room to vouch for a whole view.
  void encode_frame(const swim::packet& from, std::vector<std::uint8_t>& out,
                    const proof& with = {});

  /// `encode()` if the whole takes at most `size` bytes, filled up to about that; else false, and
  /// nothing is appended.
  bool encode_within(const swim::packet& from, const proof& with, std::size_t size,
                     std::vector<std::uint8_t>& out);

  /// Reads exactly one packet into `to`, whose storage is reused. On an error `to` is unspecified.
  ///
  /// Whether an address or a name is one that a member may have is for the protocol to judge, since
  /// it can answer with a reason; here only what can't be held at all is refused.
  decode_error decode(bytes_view from, swim::packet& to);

  /// The same for a frame of a stream, but for repeats, which the stream tells by its own numbers.
  decode_error decode_frame(bytes_view from, swim::packet& to);

  /// About the packet that was accepted last.
  const receipt& last_receipt() const noexcept;

  /// The life of the packet that was accepted last has proved with it that it lives: `of` is its
  /// sender. What it sent before counts no more.
  void mark_proven(const swim::sender& of);

  /// The packet that was accepted last comes from a life that has proved itself: so have those that
  /// it vouches for. `to` is what was decoded, unchanged.
  void believe_vouchers(const swim::packet& to);

  /// Whether that life has proved it, or was vouched for, and is remembered since.
  bool is_proven(std::string_view name, std::uint64_t epoch) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The cluster id of a packet that is otherwise unread, to say whose packets arrive here by
/// mistake; empty if it is no lifering packet. Untrusted bytes: escape them before printing.
std::string_view peek_cluster_id(bytes_view packet) noexcept;

}  // namespace lifering::wire
