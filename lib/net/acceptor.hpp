// Takes the connections that peers make. Running out of descriptors or memory makes it pause, never
// end.
#pragma once

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <lifering/endpoint.hpp>

#include "net/counters.hpp"
#include "net/operations.hpp"

namespace lifering::net {

class acceptor {
 public:
  using handler = std::function<void(asio::ip::tcp::socket, const endpoint& from)>;

  /// Takes a socket that listens. `accepted` is called on its executor.
  acceptor(asio::ip::tcp::acceptor listening, operations& pending, counters& count,
           handler accepted);

  void start();
  void close();

 private:
  void accept_next();
  void pause();

  asio::ip::tcp::acceptor listening_;
  asio::steady_timer pause_;
  operations& pending_;
  counters& count_;
  handler accepted_;
};

}  // namespace lifering::net
