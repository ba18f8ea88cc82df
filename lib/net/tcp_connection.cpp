#include "net/tcp_connection.hpp"

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/write.hpp>
#include <utility>

#include "net/address.hpp"

#ifdef __linux__
#include <netinet/in.h>
#include <sys/socket.h>
#endif

namespace lifering::net {
namespace {

/// Frames are few and awaited; gathering small ones would only delay them.
void send_without_delay(io::tcp_socket& socket) {
  std::error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
}

}  // namespace

tcp_connection::tcp_connection(io::tcp_socket socket, operations& pending)
    : socket_(std::move(socket)), pending_(pending) {
  send_without_delay(socket_);
}

tcp_connection::tcp_connection(io::tcp_socket socket, const asio::ip::tcp::endpoint& to,
                               operations& pending)
    : socket_(std::move(socket)), to_(to), pending_(pending) {}

void tcp_connection::connect(std::shared_ptr<connection_user> user) {
  socket_.async_connect(
      to_, [this, user = std::move(user), token = pending_.begin()](std::error_code error) {
        // While the user lives, so does its connection.
        user->connected(error ? error : finish_connecting());
      });
}

std::error_code tcp_connection::finish_connecting() {
  std::error_code ignored;
  // A port of the system's own choosing may happen to be the one that we call: then TCP connects
  // the socket to itself, though nobody listens there.
  if (socket_.local_endpoint(ignored) == socket_.remote_endpoint(ignored)) {
    return asio::error::connection_refused;
  }
  send_without_delay(socket_);
  return {};
}

void tcp_connection::read_some(std::span<std::uint8_t> into,
                               std::shared_ptr<connection_user> user) {
  socket_.async_read_some(
      asio::buffer(into.data(), into.size()),
      [user = std::move(user), token = pending_.begin()](std::error_code error, std::size_t size) {
        user->arrived(error, size);
      });
}

void tcp_connection::write(std::span<const std::uint8_t> bytes,
                           std::shared_ptr<connection_user> user) {
  asio::async_write(socket_, asio::buffer(bytes.data(), bytes.size()),
                    [user = std::move(user), token = pending_.begin()](
                        std::error_code error, std::size_t size) { user->written(error, size); });
}

void tcp_connection::end_sending() {
  std::error_code ignored;
  socket_.shutdown(io::tcp_socket::shutdown_send, ignored);
}

void tcp_connection::close() {
  std::error_code ignored;
  socket_.close(ignored);
}

tcp_connector::tcp_connector(io::executor executor, const endpoint& local, operations& pending)
    : executor_(std::move(executor)), local_(local), pending_(pending) {}

std::unique_ptr<connection> tcp_connector::make_connection(const endpoint& to,
                                                           std::error_code& error) {
  const auto target = to_asio<asio::ip::tcp>(to, false);
  io::tcp_socket socket(executor_);
  prepare(socket, target, error);
  if (error) return nullptr;
  return std::make_unique<tcp_connection>(std::move(socket), target, pending_);
}

void tcp_connector::prepare(io::tcp_socket& socket, const asio::ip::tcp::endpoint& to,
                            std::error_code& error) const {
  socket.open(to.protocol(), error);
  if (error || local_.is_unspecified()) return;
#ifdef IP_BIND_ADDRESS_NO_PORT
  // Leaves the choice of a port to connect(), which needs one that is free for that peer only.
  const int on = 1;
  ::setsockopt(socket.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
#endif
  // Peers and firewalls should see the address that the member goes by.
  endpoint from = local_;
  from.port = 0;
  if (from.is_v4() != to.address().is_v4()) {
    error = asio::error::address_family_not_supported;
    return;
  }
  socket.bind(to_asio<asio::ip::tcp>(from, false), error);
}

}  // namespace lifering::net
