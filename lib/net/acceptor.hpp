// Takes the connections that peers make. Running out of descriptors or memory makes it pause, never
// end.
#pragma once

#include <functional>
#include <lifering/endpoint.hpp>
#include <memory>

#include "net/connection.hpp"
#include "net/counters.hpp"
#include "net/io.hpp"
#include "net/operations.hpp"

namespace lifering::net {

class acceptor {
 public:
  using handler = std::function<void(std::unique_ptr<connection>, const endpoint& from)>;

  /// Of the connections that wait, so many are taken in one turn: where a loop has much to do, a
  /// crowd would wait for as many turns.
  static constexpr int per_turn = 16;

  /// Takes a socket that listens. `accepted` is called on its executor.
  acceptor(io::tcp_acceptor listening, operations& pending, counters& count, handler accepted);

  void start();
  void close();

 private:
  void accept_next();
  std::error_code accept_one();
  void pause();

  io::tcp_acceptor listening_;
  io::timer pause_;
  operations& pending_;
  counters& count_;
  handler accepted_;
};

}  // namespace lifering::net
