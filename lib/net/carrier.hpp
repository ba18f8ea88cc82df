// What a member's packets travel over: sockets of our own, or a transport that the application
// gave. All that is decided about bytes is decided above.
#pragma once

#include <functional>
#include <lifering/endpoint.hpp>
#include <lifering/error.hpp>
#include <lifering/transport.hpp>
#include <memory>
#include <optional>
#include <string>

#include "net/connection.hpp"
#include "net/counters.hpp"
#include "net/datagram_port.hpp"
#include "net/io.hpp"
#include "net/operations.hpp"

namespace lifering::net {

class carrier : public connector {
 public:
  using accept_handler = std::function<void(std::unique_ptr<connection>, const endpoint& from)>;

  /// What it needs, and whom it tells. All of it outlives the carrier.
  struct surroundings {
    io::executor executor;
    operations& pending;
    counters& count;
    datagram_handler& datagrams;
    accept_handler accepted;
    std::size_t datagram_max;  ///< Larger ones are dropped and counted.
  };

  virtual ~carrier() = default;

  /// The address of this end.
  virtual endpoint local() const = 0;

  virtual datagram_port& datagrams() noexcept = 0;

  /// Begins to receive and to accept.
  virtual void start() = 0;

  /// Ends that. Streams are closed before.
  virtual void close() = 0;

  /// Part of a log line.
  virtual std::string describe() const = 0;
};

/// Opens UDP and TCP on one port. On a problem nothing is open.
std::optional<problem> open_sockets(const endpoint& bind, carrier::surroundings with,
                                    std::unique_ptr<carrier>& out);

/// Opens a transport of the application.
std::optional<problem> open_transport(std::shared_ptr<transport> given, const endpoint& bind,
                                      carrier::surroundings with, std::unique_ptr<carrier>& out);

}  // namespace lifering::net
