// Where a driver's datagrams leave and arrive: the UDP socket, or what the application gave.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/scratch.hpp"
#include "net/outbox.hpp"

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
  template <std::invocable<std::vector<std::uint8_t>&> Fill>
  void queue(const endpoint& to, Fill&& fill) {
    if (!waiting_) waiting_.emplace();
    outbox& box = **waiting_;
    const auto offset = box.bytes.size();
    std::forward<Fill>(fill)(box.bytes);
    box.list.push_back({to, offset, box.bytes.size() - offset});
    added(to);
  }

  void queue(const endpoint& to, const std::vector<std::uint8_t>& datagram) {
    queue(to, [&](std::vector<std::uint8_t>& out) {
      out.insert(out.end(), datagram.begin(), datagram.end());
    });
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
  std::size_t queued() const noexcept { return waiting_ ? (*waiting_)->bytes.size() : 0; }

 protected:
  /// A datagram for `to` is the last one that waits now.
  virtual void added(const endpoint& to) = 0;

  /// What waits, or null. Held only while something does.
  outbox* waiting() const noexcept { return waiting_ ? &**waiting_ : nullptr; }
  void drop_waiting() noexcept { waiting_.reset(); }

 private:
  std::optional<base::scratch<outbox>> waiting_;
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
