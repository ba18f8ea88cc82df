// Where a driver's datagrams leave and arrive: the UDP socket, or what the application gave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace lifering::net {

/// Told by a datagram_port, on the strand. May queue datagrams and close the port; flushing is for
/// batch_ended() and for whoever queues outside these calls.
class datagram_handler {
 public:
  virtual void datagram_received(const endpoint& from, std::span<const std::uint8_t> bytes) = 0;

  /// The host of `peer` says that nobody listens there.
  virtual void datagram_refused(const endpoint& peer) = 0;

  /// Our own host can't send: no route, no buffers, no permission. Called from within queue() and
  /// flush().
  virtual void datagram_failed(const endpoint& to, std::error_code error) = 0;

  /// After one or more of the calls above that came from the network.
  virtual void batch_ended() = 0;

 protected:
  ~datagram_handler() = default;
};

/// Datagrams are gathered in one buffer and leave together.
class datagram_port {
 public:
  virtual ~datagram_port() = default;

  /// Begins to receive.
  virtual void start() = 0;

  /// Adds a datagram to the batch; `fill` appends its bytes to the vector that it is given.
  template <class Fill>
  void queue(const endpoint& to, Fill&& fill) {
    const auto offset = bytes_.size();
    std::forward<Fill>(fill)(bytes_);
    added(to, offset);
  }

  /// Sends the batch, as far as it can leave now; the rest follows by itself.
  virtual void flush() = 0;

  /// Hands on what has come in meanwhile, without waiting for its turn.
  virtual void receive_pending() = 0;

  virtual void close() = 0;

  /// Whether so little waits to leave that strangers may be sent something too. What is for an
  /// address that no host has waits in the system's buffer until that is known, for seconds.
  virtual bool has_room_for_strangers() { return true; }

  /// Bytes that are still to leave.
  std::size_t queued() const noexcept { return bytes_.size(); }

 protected:
  /// A datagram for `to` stands in `bytes_` from `offset` to its end.
  virtual void added(const endpoint& to, std::size_t offset) = 0;

  std::vector<std::uint8_t> bytes_;
};

/// Whether a failed send tells of our own host. The others are about what was to be sent, or where
/// to: an address of a family that the socket doesn't speak says nothing about either member.
inline bool is_about_us(const std::error_code& error) {
  return error == std::errc::no_buffer_space || error == std::errc::not_enough_memory ||
         error == std::errc::network_unreachable || error == std::errc::network_down ||
         error == std::errc::host_unreachable || error == std::errc::operation_not_permitted ||
         error == std::errc::permission_denied;
}

}  // namespace lifering::net
