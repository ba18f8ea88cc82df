// The simulated world's clock: a heap of things to do, ordered by (time, order of insertion).
// Nothing in a simulation knows another clock, so a seed decides the whole run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"

namespace lifering::sim {

using base::duration;
using base::time_point;

/// Virtual time starts here and not at zero, so that whoever confuses a point in time with a
/// duration is found out.
inline constexpr time_point world_begin{std::chrono::seconds{10'000}};

class world {
 public:
  using action = std::function<void()>;

  time_point now() const noexcept { return now_; }

  /// Since the world began; what a scenario's times count from.
  duration elapsed() const noexcept { return now_ - world_begin; }

  /// Runs `what` at `when`, which isn't in the past. Actions of one moment run in the order in
  /// which they were added. A capture of up to two pointers doesn't allocate.
  void at(time_point when, action what);
  void after(duration wait, action what) { at(now_ + wait, std::move(what)); }

  /// Runs the next action, if there is one up to `end`. False: nothing left before it.
  bool step(time_point end);

  /// Runs everything up to and including `end`; the clock stands there afterwards.
  void run_until(time_point end);

  std::size_t pending() const noexcept { return heap_.size(); }
  std::uint64_t steps() const noexcept { return steps_; }

 private:
  struct entry {
    time_point when;
    std::uint64_t number;
    std::uint32_t slot;
  };
  static bool later(const entry& a, const entry& b) noexcept {
    return a.when != b.when ? a.when > b.when : a.number > b.number;
  }

  time_point now_ = world_begin;
  std::uint64_t next_number_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<entry> heap_;
  std::vector<action> actions_;  // By slot, so that the heap moves 24 bytes and no closure.
  std::vector<std::uint32_t> free_slots_;
};

}  // namespace lifering::sim
