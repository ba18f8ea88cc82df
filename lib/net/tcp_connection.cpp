#include "net/tcp_connection.hpp"

#include <array>
#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/write.hpp>
#include <optional>
#include <utility>

#include "net/address.hpp"
#include "net/close_on_exec.hpp"

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

/// Of the attempts to connect to one address.
struct tcp_connection::race {
  race(const asio::ip::tcp::endpoint& target, const tcp_connector& made_by, io::timer timer)
      : to(target), maker(made_by), next(std::move(timer)) {}

  const asio::ip::tcp::endpoint to;
  const tcp_connector& maker;
  io::timer next;
  std::array<std::optional<io::tcp_socket>, attempts_max - 1> further;
  std::size_t begun = 0;  ///< Of the further ones.
};

tcp_connection::tcp_connection(io::tcp_socket socket, operations& pending)
    : socket_(std::move(socket)), pending_(pending) {
  send_without_delay(socket_);
}

tcp_connection::tcp_connection(io::tcp_socket socket, const asio::ip::tcp::endpoint& to,
                               const tcp_connector& maker, operations& pending)
    : socket_(std::move(socket)),
      race_(std::make_unique<race>(to, maker, io::timer(socket_.get_executor()))),
      pending_(pending) {}

tcp_connection::~tcp_connection() = default;

void tcp_connection::connect(std::shared_ptr<connection_user> user) {
  attempt(socket_, user);
  attempt_later(user);
}

void tcp_connection::attempt(io::tcp_socket& by, const std::shared_ptr<connection_user>& user) {
  by.async_connect(race_->to, [this, &by, user, token = pending_.begin()](std::error_code error) {
    // While the user lives, so does its connection.
    if (race_) attempted(by, error, *user);
  });
}

void tcp_connection::attempted(io::tcp_socket& by, std::error_code error, connection_user& user) {
  const bool is_first = &by == &socket_;
  // That this host has no port or memory left for one more attempt doesn't end the others.
  if (error && !is_first && error != asio::error::connection_refused) return;
  if (!is_first) socket_ = std::move(by);
  race_.reset();  // Closes all others.
  user.connected(error ? error : finish_connecting());
}

void tcp_connection::attempt_later(const std::shared_ptr<connection_user>& user) {
  race_->next.expires_after(attempt_delay);
  race_->next.async_wait([this, user, token = pending_.begin()](std::error_code error) {
    if (error || !race_) return;
    // Where we run late, the answer may well be here and wait for us.
    const bool is_late = io::timer::clock_type::now() - race_->next.expiry() > attempt_delay / 5;
    if (is_late) return attempt_later(user);
    std::error_code failed;
    io::tcp_socket socket(socket_.get_executor());
    race_->maker.prepare(socket, race_->to, failed);
    auto& place = race_->further[race_->begun++];
    if (!failed) attempt(place.emplace(std::move(socket)), user);
    if (race_->begun < race_->further.size()) attempt_later(user);
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
  race_.reset();
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
  return std::make_unique<tcp_connection>(std::move(socket), target, *this, pending_);
}

void tcp_connector::prepare(io::tcp_socket& socket, const asio::ip::tcp::endpoint& to,
                            std::error_code& error) const {
  socket.open(to.protocol(), error);
  if (error) return;
  close_on_exec(socket);
  if (local_.is_unspecified()) return;
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
