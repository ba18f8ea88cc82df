// The shell around the protocol machine: sockets, one timer and the codec. It carries effects out
// and decides nothing.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/strand.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <lifering/options.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/log.hpp"
#include "base/rng.hpp"
#include "swim/config.hpp"
#include "swim/effect.hpp"
#include "swim/protocol.hpp"

namespace lifering::net {

/// What the driver counts beside the machine's own counters.
struct counters {
  std::uint64_t datagrams_sent = 0;
  std::uint64_t datagrams_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t streams_opened = 0;
  std::uint64_t streams_accepted = 0;
  std::uint64_t streams_failed = 0;
  std::uint64_t streams_refused_limit = 0;
  std::uint64_t dropped_malformed = 0;
  std::uint64_t dropped_wrong_cluster = 0;
  std::uint64_t dropped_wrong_version = 0;
  std::uint64_t dropped_too_large = 0;
  std::uint64_t send_errors = 0;
  std::uint64_t refused = 0;  ///< Ports that their host said are closed.
};

struct driver_options {
  std::string cluster;
  endpoint bind;       ///< Port 0: the system chooses.
  endpoint advertise;  ///< Unspecified address: take the bound one (or the route's, see README).
  swim::config protocol;
  swim::record self;   ///< Without its address, which the driver fills in when bound.
  std::uint64_t seed;  ///< Of the machine's randomness.
  base::logger log;
};

/// All functions but the constructor must be called on the strand. Completion of anything is told
/// through `on_batch`, which sees each call's effects after the sends were handed to the sockets.
class driver : public std::enable_shared_from_this<driver> {
 public:
  using strand = asio::strand<asio::any_io_executor>;
  /// Called on the strand after every handled input that had effects for the application
  /// (member_changed, completed, user_received), which it picks from the list.
  using batch_handler = std::function<void(std::span<const swim::effect>)>;

  driver(asio::any_io_executor executor, driver_options options, batch_handler on_batch);
  ~driver();

  const strand& get_strand() const noexcept;

  /// Opens UDP and TCP on one port. On an error nothing stays open; `problem` names the value.
  std::optional<problem> open();

  /// Begins to receive, probe and gossip. After open().
  void start();

  /// Hands a command to the machine.
  template <class Command>
  void command(const Command& value);

  /// Closes sockets, streams, timer and resolver; calls `done` on the strand when nothing is
  /// pending any more. Idempotent: every call's `done` is called once.
  void stop(std::function<void()> done);

  /// The bound address and the advertised one. After open().
  endpoint local_address() const;
  endpoint advertised_address() const;

  swim::protocol& protocol() noexcept;
  const counters& count() const noexcept;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace lifering::net
