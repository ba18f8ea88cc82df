#include "net/acceptor.hpp"

#include <asio/error.hpp>
#include <chrono>
#include <system_error>
#include <utility>

#include "net/address.hpp"
#include "net/close_on_exec.hpp"
#include "net/tcp_connection.hpp"

namespace lifering::net {

acceptor::acceptor(io::tcp_acceptor listening, operations& pending, counters& count,
                   handler accepted)
    : listening_(std::move(listening)),
      pause_(listening_.get_executor()),
      pending_(pending),
      count_(count),
      accepted_(std::move(accepted)) {}

void acceptor::start() {
  std::error_code ignored;
  listening_.non_blocking(true, ignored);
  accept_next();
}

void acceptor::close() {
  std::error_code ignored;
  listening_.close(ignored);
  pause_.cancel();
}

void acceptor::accept_next() {
  listening_.async_wait(
      io::tcp_acceptor::wait_read, [this, token = pending_.begin()](std::error_code error) {
        if (!listening_.is_open()) return;
        for (int taken = 0; taken < per_turn && !error; ++taken)
          error = accept_one();
        if (!listening_.is_open()) return;
        const bool has_all = error == asio::error::would_block || error == asio::error::try_again;
        if (error && !has_all) return pause();
        accept_next();
      });
}

std::error_code acceptor::accept_one() {
  std::error_code error;
  io::tcp_socket socket = listening_.accept(error);
  if (error == asio::error::connection_aborted) return {};
  if (error) return error;
  close_on_exec(socket);
  const auto from = socket.remote_endpoint(error);
  if (error) return {};  // Gone already.
  accepted_(std::make_unique<tcp_connection>(std::move(socket), pending_), from_asio(from));
  return listening_.is_open() ? std::error_code() : asio::error::operation_aborted;
}

void acceptor::pause() {
  ++count_.accept_errors;
  // The connection still waits in the kernel's queue, so trying at once would spin.
  pause_.expires_after(std::chrono::milliseconds(100));
  pause_.async_wait([this, token = pending_.begin()](std::error_code) {
    if (listening_.is_open()) accept_next();
  });
}

}  // namespace lifering::net
