// The time types of the pure floors. There is no now(): time is an argument, so that a simulator
// can be the clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace lifering::base {

using duration = std::chrono::nanoseconds;

/// A monotonic clock that only a caller can read. Its epoch means nothing.
struct monotonic_clock {
  using duration = base::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<monotonic_clock, duration>;
  static constexpr bool is_steady = true;
};

using time_point = monotonic_clock::time_point;

/// Later than every deadline.
inline constexpr time_point never = time_point::max();

/// The first multiple of `step` that isn't before `time`.
constexpr time_point round_up(time_point time, duration step) noexcept {
  const duration beyond = time.time_since_epoch() % step;
  return beyond == duration::zero() ? time : time + (step - beyond);
}

}  // namespace lifering::base
