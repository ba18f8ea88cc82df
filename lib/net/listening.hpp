// Opens the two sockets that make up a member's address: UDP and TCP on one port.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/udp.hpp>
#include <lifering/endpoint.hpp>
#include <lifering/error.hpp>
#include <optional>

namespace lifering::net {

struct listening_sockets {
  asio::ip::udp::socket udp;
  asio::ip::tcp::acceptor tcp;
  endpoint local;  ///< With the port that was chosen.
};

/// Binds both to `bind`. Port 0 takes a port that is free for both. [::] takes IPv4 as well. On a
/// problem nothing is open, and the sentence names the address.
std::optional<problem> open_listening(const asio::any_io_executor& executor, const endpoint& bind,
                                      std::optional<listening_sockets>& out);

}  // namespace lifering::net
