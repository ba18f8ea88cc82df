// Connections by TCP.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "net/connection.hpp"
#include "net/io.hpp"
#include "net/operations.hpp"

namespace lifering::net {

class tcp_connector;

class tcp_connection final : public connection {
 public:
  /// A lost SYN is sent again by the system after a second, then after three, seven and so on,
  /// which costs a join on a lossy network most of its time. So while nothing is heard, further
  /// sockets try as well, with the delay that RFC 8305, section 5 recommends between attempts. The
  /// first that is connected is the connection.
  static constexpr std::chrono::milliseconds attempt_delay{250};
  static constexpr std::size_t attempts_max = 4;

  /// Takes a socket that is connected; or one that is open, to be connected to `to`, with further
  /// ones of the kind that `maker` makes.
  tcp_connection(io::tcp_socket socket, operations& pending);
  tcp_connection(io::tcp_socket socket, const asio::ip::tcp::endpoint& to,
                 const tcp_connector& maker, operations& pending);

  ~tcp_connection() override;

  void connect(std::shared_ptr<connection_user> user) override;
  void read_some(std::span<std::uint8_t> into, std::shared_ptr<connection_user> user) override;
  void write(std::span<const std::uint8_t> bytes, std::shared_ptr<connection_user> user) override;
  void end_sending() override;
  void close() override;

 private:
  struct race;

  void attempt(io::tcp_socket& by, const std::shared_ptr<connection_user>& user);
  void attempted(io::tcp_socket& by, std::error_code error, connection_user& user);
  void attempt_later(const std::shared_ptr<connection_user>& user);
  std::error_code finish_connecting();

  io::tcp_socket socket_;
  std::unique_ptr<race> race_;  // Until it is decided.
  operations& pending_;
};

class tcp_connector final : public connector {
 public:
  /// `local`: where the connections come from; a wildcard leaves it open.
  tcp_connector(io::executor executor, const endpoint& local, operations& pending);

  std::unique_ptr<connection> make_connection(const endpoint& to, std::error_code& error) override;

  /// Opens a socket, and binds it to where connections come from.
  void prepare(io::tcp_socket& socket, const asio::ip::tcp::endpoint& to,
               std::error_code& error) const;

 private:
  io::executor executor_;
  const endpoint local_;
  operations& pending_;
};

}  // namespace lifering::net
