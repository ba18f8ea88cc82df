// Connections by TCP.
#pragma once

#include "net/connection.hpp"
#include "net/io.hpp"
#include "net/operations.hpp"

namespace lifering::net {

class tcp_connection final : public connection {
 public:
  /// Takes a socket that is connected; or one that is open, to be connected to `to`.
  tcp_connection(io::tcp_socket socket, operations& pending);
  tcp_connection(io::tcp_socket socket, const asio::ip::tcp::endpoint& to, operations& pending);

  void connect(std::shared_ptr<connection_user> user) override;
  void read_some(std::span<std::uint8_t> into, std::shared_ptr<connection_user> user) override;
  void write(std::span<const std::uint8_t> bytes, std::shared_ptr<connection_user> user) override;
  void end_sending() override;
  void close() override;

 private:
  std::error_code finish_connecting();

  io::tcp_socket socket_;
  asio::ip::tcp::endpoint to_;
  operations& pending_;
};

class tcp_connector final : public connector {
 public:
  /// `local`: where the connections come from; a wildcard leaves it open.
  tcp_connector(io::executor executor, const endpoint& local, operations& pending);

  std::unique_ptr<connection> make_connection(const endpoint& to, std::error_code& error) override;

 private:
  void prepare(io::tcp_socket& socket, const asio::ip::tcp::endpoint& to,
               std::error_code& error) const;

  io::executor executor_;
  const endpoint local_;
  operations& pending_;
};

}  // namespace lifering::net
