// The simulated machines that members run on: their addresses, whether a process listens there, and
// what the operating system keeps for a process that is paused or blocked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <lifering/endpoint.hpp>
#include <optional>
#include <vector>

#include "sim/faults.hpp"
#include "sim/node_set.hpp"
#include "sim/world.hpp"

namespace lifering::sim {

/// What a packet finds at an address.
enum class presence : std::uint8_t {
  running,   ///< A process.
  refusing,  ///< A living host without the process: it answers that nobody listens.
  silent,    ///< No host at all.
};

class hosts {
 public:
  /// What a socket buffers: the default of Linux, which counts some 512 bytes a packet on top.
  static constexpr std::size_t default_receive_buffer = 212'992;
  static constexpr std::size_t packet_overhead = 512;

  hosts(world& clock, faults& record, node_id nodes,
        std::size_t receive_buffer = default_receive_buffer);

  // Addresses. Member n has 10.m.x.y:7946, where x.y is n and m counts its moves.

  static endpoint address_of(node_id node, std::uint8_t moves);
  /// The member whose address this is or was; nothing for an address of no member.
  std::optional<node_id> owner(const endpoint& address) const noexcept;
  /// Who listens there now.
  presence at(const endpoint& address) const noexcept;
  endpoint address(node_id node) const noexcept { return address_of(node, table_[node].moves); }

  // Processes.

  /// A process starts. `moved`: at a new address; the old host stays as it is.
  void start(node_id node, bool moved);
  /// The process ends; what was queued for it is gone.
  void stop(node_id node, presence leaves);
  bool running(node_id node) const noexcept { return table_[node].now == presence::running; }
  /// Counts the processes that ran here, so that what was meant for one doesn't reach the next.
  std::uint32_t life(node_id node) const noexcept { return table_[node].life; }

  /// Stopped as by SIGSTOP: the kernel goes on receiving. May nest.
  void pause(node_id node);
  /// Lifeguard's gate: before every send and after every receive; timers run.
  void block(node_id node);
  /// Ends one pause or block. What was queued is delivered by drain(), not before.
  void resume(node_id node, std::uint32_t life);
  void unblock(node_id node, std::uint32_t life);
  void drain(node_id node, std::size_t at_most = ~std::size_t{0});
  bool drained(node_id node) const noexcept {
    return table_[node].inbox.empty() && table_[node].outbox.empty();
  }

  bool paused(node_id node) const noexcept { return table_[node].pauses > 0; }
  bool blocked(node_id node) const noexcept { return table_[node].blocks > 0; }
  bool hampered(node_id node) const noexcept { return paused(node) || blocked(node); }

  /// Hands something to the process: at once, or when it reads again. A datagram for which the
  /// buffer has no room is dropped (false); `datagram_size` 0 marks what is never dropped.
  bool deliver(node_id node, std::size_t datagram_size, world::action what);

  /// Lets something out of the process: at once, or when its gate opens.
  void emit(node_id node, world::action what);

 private:
  struct host {
    presence now = presence::silent;
    std::uint8_t moves = 0;
    std::uint32_t life = 0;
    unsigned pauses = 0;
    unsigned blocks = 0;
    std::vector<presence> left_behind;  // What each old address shows, by number of moves.
    std::deque<world::action> inbox;
    std::deque<world::action> outbox;
    std::size_t buffered = 0;
  };

  world& clock_;
  faults& record_;
  std::size_t receive_buffer_;
  std::vector<host> table_;  // By node_id; slot 0 is unused.
};

}  // namespace lifering::sim
