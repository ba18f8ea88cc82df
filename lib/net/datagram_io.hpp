// Moves batches of datagrams through a UDP socket, without waiting. On Linux one system call moves
// many and the error queue names the peer of a failed packet (datagram_io_linux.cpp); elsewhere
// Asio moves one at a time (datagram_io_asio.cpp). CMakeLists.txt chooses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <optional>
#include <span>
#include <system_error>

#include "base/scratch.hpp"
#include "net/io.hpp"
#include "net/outbox.hpp"

namespace lifering::net {

struct incoming_datagram {
  endpoint from;
  std::span<const std::uint8_t> bytes;
  bool truncated = false;  ///< Longer than was asked for; its end is lost.
};

/// What the network said about a packet that was sent before.
struct network_report {
  enum class kind : std::uint8_t {
    refused,      ///< Its host says that nobody listens on that port.
    unreachable,  ///< A router, or our own host, says that it can't get there.
    local,        ///< Our own host says so; the failed call has told it already.
  };
  kind what{};
  endpoint peer;  ///< Where the packet was to go.
};

/// Takes from a socket what has arrived. Holds buffers that all sockets take in turns, so it should
/// live for one turn only.
class datagram_receiver {
 public:
  /// Reads no more than `datagram_max` bytes of each, at most 65536.
  explicit datagram_receiver(std::size_t datagram_max);
  ~datagram_receiver();

  /// At most one batch; valid until the next call. Nothing, with an error: would_block when there
  /// is nothing more, otherwise what the socket reports.
  std::span<const incoming_datagram> receive(io::udp_socket& socket, std::error_code& error);

  /// Datagrams of a full batch; a smaller one was all that there was.
  static std::size_t batch_max() noexcept;

 private:
  struct state;
  base::scratch<state> state_;
};

/// Hands a batch to a socket. As short-lived.
class datagram_sender {
 public:
  datagram_sender();
  ~datagram_sender();

  /// Sends those from number `first`; returns how many the system took. The error is that of the
  /// first that it didn't take, or of an earlier packet to somebody else. `is_v6`: what the socket
  /// is.
  std::size_t send(io::udp_socket& socket, bool is_v6, const outbox& from, std::size_t first,
                   std::error_code& error);

 private:
  struct state;
  base::scratch<state> state_;
};

/// What the system has taken and not sent yet, in bytes as it counts them; 0 where it doesn't tell.
std::size_t held_by_system(io::udp_socket& socket);

/// Asks the system to queue reports about packets sent.
void enable_reports(io::udp_socket& socket, std::error_code& error);

/// Takes the next report from the queue, if any.
std::optional<network_report> next_report(io::udp_socket& socket);

}  // namespace lifering::net
