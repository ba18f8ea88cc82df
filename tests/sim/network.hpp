// The simulated network: what happens to a datagram between two members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <lifering/endpoint.hpp>
#include <span>
#include <vector>

#include "base/rng.hpp"
#include "sim/faults.hpp"
#include "sim/hosts.hpp"
#include "sim/world.hpp"

namespace lifering::sim {

struct network_options {
  duration latency_min = std::chrono::microseconds{200};  ///< One way, uniform between the two.
  duration latency_max = std::chrono::milliseconds{2};
  ppm loss = 0;
  ppm duplicate = 0;
  ppm reorder = 0;                ///< Held back by another one to ten longest latencies.
  std::uint64_t bandwidth = 0;    ///< Bytes a second that a member can send; 0: without bound.
  std::size_t datagram = 65'507;  ///< Larger ones vanish, as those above a path's MTU do.
  std::size_t receive_buffer = hosts::default_receive_buffer;  ///< Of each member's socket.

  friend bool operator==(const network_options&, const network_options&) = default;
};

struct network_counters {
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;
  std::uint64_t lost = 0;
  std::uint64_t cut = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t held_back = 0;
  std::uint64_t too_large = 0;
  std::uint64_t congested = 0;  ///< The sender's queue was full.
  std::uint64_t overrun = 0;    ///< The receiver's socket buffer was full.
  std::uint64_t refused = 0;
  std::uint64_t nobody = 0;  ///< No host there.
};

class network {
 public:
  /// A sender's queue holds what it can send in this time; more is dropped.
  static constexpr duration send_queue = std::chrono::milliseconds{250};

  using receiver =
      std::function<void(node_id to, const endpoint& from, std::span<const std::uint8_t> datagram)>;
  using refusal = std::function<void(node_id sender, const endpoint& refused)>;

  network(world& clock, faults& state, hosts& where, network_options options, base::rng random);

  /// Who is told of what arrives, and of what a living host refused. Set once, before any send.
  void connect(receiver on_receive, refusal on_refusal);

  /// Sends from this member's present address. The draws of one datagram don't depend on its fate,
  /// so that a fault can be taken out of a scenario without shifting the rest.
  void send(node_id from, const endpoint& to, std::span<const std::uint8_t> datagram);

  // For the streams, which cross the same network.

  /// Draws whether one packet gets from one member to another, cuts included.
  bool passes(node_id from, node_id to);
  duration draw_latency();
  /// Books bytes on the sender's line and tells when it is through with them, from now.
  duration occupy(node_id from, std::size_t bytes);

  const network_counters& counters() const noexcept { return counters_; }
  const network_options& options() const noexcept { return options_; }

 private:
  struct flight {
    node_id from = 0;
    endpoint sender;
    endpoint to;
    std::vector<std::uint8_t> bytes;
  };

  bool lost(node_id from, node_id to);
  duration backlog(node_id from) const noexcept;
  void fly(node_id from, const endpoint& to, std::span<const std::uint8_t> datagram, duration time);
  void arrive(std::uint32_t slot);
  void refuse(std::uint32_t slot, node_id by);
  void release(std::uint32_t slot);

  world& clock_;
  faults& faults_;
  hosts& hosts_;
  network_options options_;
  base::rng random_;
  receiver on_receive_;
  refusal on_refusal_;
  network_counters counters_;
  std::vector<time_point> busy_until_;  // By node_id.
  std::vector<flight> flights_;
  std::vector<std::uint32_t> free_flights_;
};

}  // namespace lifering::sim
