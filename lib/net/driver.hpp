// The shell around the protocol machine: sockets, one timer and the codec. It carries effects out
// and decides nothing.
#pragma once

#include <asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <lifering/endpoint.hpp>
#include <lifering/error.hpp>
#include <lifering/options.hpp>
#include <lifering/transport.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/log.hpp"
#include "net/allow_list.hpp"
#include "net/counters.hpp"
#include "net/io.hpp"
#include "swim/config.hpp"
#include "swim/effect.hpp"
#include "swim/input.hpp"
#include "swim/protocol.hpp"
#include "swim/record.hpp"
#include "wire/keyring.hpp"

namespace lifering::net {

struct driver_options {
  std::string cluster;

  /// Where to listen, UDP and TCP on one port. Port 0: the system chooses.
  endpoint bind;

  /// What carries the packets instead of sockets of our own, if it is set.
  std::shared_ptr<transport> carried_by;

  /// The name server to ask instead of the system's; IPv4.
  std::optional<endpoint> name_server;

  /// What others reach us at. Port 0: the bound port. Nothing: the bound address, or for a wildcard
  /// the one that the route to `seed_hint` uses.
  std::optional<endpoint> advertise;

  /// The host that `advertise` was found by, if it was one. It is looked up again every
  /// `advertise_refresh`, and when it has moved, so have we.
  std::string advertise_host;
  base::duration advertise_refresh = std::chrono::seconds(30);

  /// The text of the first seed, if it is known before the start. Used for the choice above alone,
  /// and only when it is an address: nothing waits for a name server here.
  std::string seed_hint;

  /// Its `datagram_budget` is overwritten with the datagram limit less the codec's overhead
  /// and, where packets may be sealed, the room of a proof; and its `vouching_room`.
  swim::config protocol;

  /// Null: nothing is sealed or opened. May change at any time, from any thread.
  std::shared_ptr<const wire::keyring> keys;

  /// Whose packets and connections are heard, and whom we speak to.
  allow_list allow;

  swim::record self;       ///< Without its address, which the driver fills in when bound.
  std::uint64_t seed = 0;  ///< Of the machine's randomness.
  base::logger log;
};

/// One member on real sockets.
///
/// Held by shared_ptr: what is under way keeps the driver alive, so stop() must be called to let it
/// go. All functions but the constructor must be called on the strand, or before the executor runs
/// anything of it. Nothing of the caller is called from within open(), start(), command() or
/// stop(), but for log lines.
class driver : public std::enable_shared_from_this<driver> {
 public:
  using strand = io::executor;

  /// Called on the strand after every handled input that had effects for the application
  /// (member_changed, member_renewed, completed, user_received), which it picks from the list. What
  /// it asks to be sent was handed to the sockets before. It may call every function of the driver.
  using batch_handler = std::function<void(std::span<const swim::effect>)>;

  driver(asio::any_io_executor executor, driver_options options, batch_handler on_batch);
  ~driver();

  const strand& get_strand() const noexcept;

  /// Opens UDP and TCP on one port, or the transport. On an error nothing stays open, and the
  /// sentence names the value that was wrong. May be tried again.
  std::optional<problem> open();

  /// Begins to receive, probe and gossip. After open().
  void start();

  /// Hands a command to the machine. From within the batch handler it waits for its turn. Commands
  /// after stop() are dropped, and those that stop() finds pending are never completed: whoever
  /// gave them knows both.
  void command(const swim::join_command& value);
  void command(const swim::leave_command& value);
  void command(const swim::cancel_command& value);
  void command(const swim::update_command& value);
  void command(const swim::forget_command& value);
  void command(const swim::send_command& value);

  /// Closes sockets, streams, timer and resolver, in whatever state; no batch is handed out any
  /// more. Calls `done` on the strand, from a later turn, when nothing is pending. Idempotent:
  /// every call's `done` is called once.
  void stop(std::function<void()> done);

  /// The bound address and the advertised one. After open().
  endpoint local_address() const;
  endpoint advertised_address() const;

  /// The machine. After open(); stays readable after stop().
  swim::protocol& protocol() noexcept;

  const counters& count() const noexcept;
  net::gauges gauges() const;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace lifering::net
