// One simulated member: the real machine with the real codec, and the shell's part in small. It
// carries effects out and decides nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/node_set.hpp"
#include "sim/world.hpp"
#include "swim/protocol.hpp"

namespace lifering::sim {

class cluster;

class node {
 public:
  node(cluster& around, node_id id) : cluster_(around), id_(id) {}

  node_id id() const noexcept { return id_; }
  bool running() const noexcept { return machine_.has_value(); }

  /// The machine of the process that runs; there must be one.
  swim::protocol& machine() noexcept { return *machine_; }
  const swim::protocol& machine() const noexcept { return *machine_; }

  void start(swim::config settings, swim::record self, base::rng random);
  void stop() noexcept;

  /// Hands one input to the machine and carries out what it wants.
  template <class Input>
  void tell(const Input& input) {
    machine_->handle(clock(), input, effects());
    settle(nullptr);
  }
  void tell_packet(const endpoint& from, const swim::packet& content);
  void tell_frame(swim::stream_id stream, const swim::packet& content);

  /// Time has passed: advances the machine if something is due.
  void wake();

  /// Makes sure that a wake-up is due when the machine wants one.
  void arm();

  /// Commands are numbered by the member. `next_command()` is the number of the next one.
  swim::command_id next_command() noexcept { return swim::command_id{++commands_}; }

  /// The completion of this command ends the process.
  void stop_after(swim::command_id command) noexcept { last_command_ = command; }
  bool stopping() const noexcept { return last_command_.has_value(); }

 private:
  time_point clock() const noexcept;
  swim::effects& effects() const noexcept;
  void settle(const swim::packet* heard);
  bool carry_out(const swim::effect& effect);

  cluster& cluster_;
  node_id id_;
  std::optional<swim::protocol> machine_;
  std::optional<swim::command_id> last_command_;
  std::uint64_t commands_ = 0;
  time_point armed_ = base::never;
  time_point last_wake_{};
  unsigned wakes_at_once_ = 0;
};

}  // namespace lifering::sim
