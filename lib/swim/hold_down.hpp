// Holding down a member that flaps: one that is declared failed, speaks up, fails again, and so on,
// would move its keys each time. From its second failure within a while on it stays away for a time
// that doubles with each further one.
//
// All must agree on when it is back, else their rings differ. So it isn't each observer that counts
// and waits: a verdict of failure carries how many there have been of this life, and the member
// itself, told of a verdict that counts two or more, doesn't contradict it before its time is up.
// Until then everybody, itself included, holds it as failed.
//
// A new life starts without a past: restarts are no flapping. Nor is it when many fail together,
// which is a cut of the network; should both sides hold themselves down, nobody were left.
#pragma once

#include <cstddef>

#include "base/time.hpp"

namespace lifering::swim {

/// How long a life stays away after that many failures: nothing after the first, then `first`,
/// doubling up to 16 times that.
base::duration hold_time(unsigned failures, base::duration first) noexcept;

/// Failures that happened this long ago don't count any more: five times `first` after the
/// hold-down that they brought.
base::duration failure_memory(unsigned failures, base::duration first) noexcept;

/// Whether a failure is that of a single member: of those known, fewer than a quarter failed
/// lately, this one included.
bool is_single_failure(std::size_t failed_lately, std::size_t present) noexcept;

/// Our own hold-down.
class own_hold {
 public:
  bool active() const noexcept { return active_; }

  /// A verdict that counts `failures` has reached us.
  void begin(unsigned failures, base::time_point now, base::duration first) noexcept;

  /// We are unwell again (nobody is heard, or we stood still): the time starts anew, and longer.
  void relapse(base::time_point now, base::duration first) noexcept;
  void well() noexcept { unwell_ = false; }

  bool over(base::time_point now) const noexcept { return active_ && ends_ <= now; }
  base::time_point ends() const noexcept { return active_ ? ends_ : base::never; }
  unsigned failures() const noexcept { return failures_; }
  void end() noexcept { active_ = unwell_ = false; }

  /// Stalls, which others may have taken for failures: whether there was one lately. Who wakes from
  /// the next one asks what is held of it before it contradicts.
  bool stalled_lately(base::time_point now, base::duration first) const noexcept;
  void note_stall(base::time_point now) noexcept { stalled_ = now; }

 private:
  base::time_point ends_{};
  base::time_point stalled_ = base::never;
  unsigned failures_ = 0;
  bool active_ = false;
  bool unwell_ = false;
};

}  // namespace lifering::swim
