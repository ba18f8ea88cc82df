// The UDP socket of a member: receives in batches, sends in batches, and tells peers' failures from
// our own. Nothing transient ends its loop; only close() does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "net/address.hpp"
#include "net/counters.hpp"
#include "net/datagram_io.hpp"
#include "net/io.hpp"
#include "net/operations.hpp"

namespace lifering::net {

/// Told by a udp_socket, on its executor. May queue datagrams and close the socket; flushing is for
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

class udp_socket {
 public:
  /// What waits at most when the system takes no more; newer datagrams are then dropped as failed.
  static constexpr std::size_t backlog_max = std::size_t{4} << 20;

  /// What the system is asked to buffer in each direction. It may grant less.
  static constexpr int buffer_wanted = 2 << 20;

  /// Takes a bound socket. Datagrams larger than `datagram_max` are dropped and counted.
  udp_socket(io::udp_socket bound, std::size_t datagram_max, operations& pending,
             datagram_handler& handler, counters& count);

  /// Begins to receive.
  void start();

  /// Adds a datagram to the batch; `fill` appends its bytes to the vector that it is given.
  template <class Fill>
  void queue(const endpoint& to, Fill&& fill) {
    const auto offset = bytes_.size();
    std::forward<Fill>(fill)(bytes_);
    outgoing_.push_back({to_asio<asio::ip::udp>(to, is_v6_), offset, bytes_.size() - offset});
    if (bytes_.size() > backlog_max) drop_newest(to);
  }

  /// Sends the batch, as far as the system takes it now; the rest follows by itself.
  void flush();

  /// Hands on what has come in meanwhile, without waiting for the turn of the socket.
  void receive_pending();

  void close();

  /// Bytes that the system has not taken yet.
  std::size_t queued() const noexcept { return bytes_.size(); }

  /// What the system granted, in bytes as it counts them.
  int receive_buffer() const noexcept { return receive_buffer_; }
  int send_buffer() const noexcept { return send_buffer_; }

 private:
  void wait_readable();
  void wait_writable();
  bool receive_some();
  void take_reports();
  void skip_failed(std::error_code error);
  void drop_newest(const endpoint& to);

  io::udp_socket socket_;
  const bool is_v6_;
  operations& pending_;
  datagram_handler& handler_;
  counters& count_;
  int receive_buffer_ = 0;
  int send_buffer_ = 0;

  datagram_receiver receiver_;
  datagram_sender sender_;
  std::vector<std::uint8_t> bytes_;
  std::vector<outgoing_datagram> outgoing_;
  std::size_t sent_ = 0;  // Of outgoing_, how many are done with.
  bool waits_to_write_ = false;
};

}  // namespace lifering::net
