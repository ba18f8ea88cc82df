// The UDP socket of a member: receives in batches, sends in batches, and tells peers' failures from
// our own. Nothing transient ends its loop; only close() does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <system_error>
#include <vector>

#include "net/counters.hpp"
#include "net/datagram_io.hpp"
#include "net/datagram_port.hpp"
#include "net/io.hpp"
#include "net/operations.hpp"

namespace lifering::net {

class udp_socket final : public datagram_port {
 public:
  /// What waits at most when the system takes no more; newer datagrams are then dropped as failed.
  static constexpr std::size_t backlog_max = std::size_t{4} << 20;

  /// What the system is asked to buffer in each direction. It may grant less.
  static constexpr int buffer_wanted = 2 << 20;

  /// Takes a bound socket. Datagrams larger than `datagram_max` are dropped and counted.
  udp_socket(io::udp_socket bound, std::size_t datagram_max, operations& pending,
             datagram_handler& handler, counters& count);

  void start() override;
  void flush() override;
  void receive_pending() override;
  bool has_room_for_strangers() override;
  void close() override;

  /// What the system granted, in bytes as it counts them.
  int receive_buffer() const noexcept { return receive_buffer_; }
  int send_buffer() const noexcept { return send_buffer_; }

 private:
  void added(const endpoint& to) override;
  void wait_readable();
  void wait_writable();
  bool receive_some();
  void take_reports();
  void skip_failed(const endpoint& to, std::error_code error);
  void start_anew();
  void drop_newest(const endpoint& to);

  io::udp_socket socket_;
  const bool is_v6_;
  const std::size_t datagram_max_;
  operations& pending_;
  datagram_handler& handler_;
  counters& count_;
  int receive_buffer_ = 0;
  int send_buffer_ = 0;

  std::size_t sent_ = 0;  // Of what waits, how many are done with.
  bool waits_to_write_ = false;
};

}  // namespace lifering::net
