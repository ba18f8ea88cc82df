// The carrier that most members have: one UDP socket, and TCP on the same port.
#include <utility>

#include "net/acceptor.hpp"
#include "net/carrier.hpp"
#include "net/listening.hpp"
#include "net/tcp_connection.hpp"
#include "net/udp_socket.hpp"

namespace lifering::net {
namespace {

class socket_carrier final : public carrier {
 public:
  socket_carrier(listening_sockets sockets, surroundings with)
      : local_(sockets.local),
        udp_(std::move(sockets.udp), with.datagram_max, with.pending, with.datagrams, with.count),
        acceptor_(std::move(sockets.tcp), with.pending, with.count, std::move(with.accepted)),
        connector_(std::move(with.executor), sockets.local, with.pending) {}

  endpoint local() const override { return local_; }
  datagram_port& datagrams() noexcept override { return udp_; }

  std::unique_ptr<connection> make_connection(const endpoint& to, std::error_code& error) override {
    return connector_.make_connection(to, error);
  }

  void start() override {
    udp_.start();
    acceptor_.start();
  }

  void close() override {
    udp_.close();
    acceptor_.close();
  }

  std::string describe() const override {
    return "UDP and TCP; UDP buffers: " + std::to_string(udp_.receive_buffer()) +
           " bytes to receive, " + std::to_string(udp_.send_buffer()) + " to send";
  }

 private:
  const endpoint local_;
  udp_socket udp_;
  acceptor acceptor_;
  tcp_connector connector_;
};

}  // namespace

std::optional<problem> open_sockets(const endpoint& bind, carrier::surroundings with,
                                    std::unique_ptr<carrier>& out) {
  std::optional<listening_sockets> sockets;
  if (auto found = open_listening(with.executor, bind, sockets)) return found;
  out = std::make_unique<socket_carrier>(std::move(*sockets), std::move(with));
  return std::nullopt;
}

}  // namespace lifering::net
