// Opens the two sockets that make up a member's address: UDP and TCP on one port.
#pragma once

#include <lifering/endpoint.hpp>
#include <lifering/error.hpp>
#include <optional>

#include "net/io.hpp"

namespace lifering::net {

struct listening_sockets {
  io::udp_socket udp;
  io::tcp_acceptor tcp;
  endpoint local;  ///< With the port that was chosen.
};

/// Binds both to `bind`. Port 0 takes a port that is free for both. [::] takes IPv4 as well. On a
/// problem nothing is open, and the sentence names the address.
std::optional<problem> open_listening(const io::executor& executor, const endpoint& bind,
                                      std::optional<listening_sockets>& out);

}  // namespace lifering::net
