// The measured round trip to our peers, for probe timeouts that follow the network.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/time.hpp"

namespace lifering::swim {

/// As it is counted.
inline std::uint64_t to_microseconds(base::duration value) noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(value).count());
}

/// Smoothed round trip and its deviation, as RFC 6298 keeps them for one connection; here over all
/// peers, so the deviation covers the differences between them.
class round_trip {
 public:
  void sample(base::duration measured) noexcept {
    if (!measured_) {
      smoothed_ = measured;
      deviation_ = measured / 2;
      measured_ = true;
      return;
    }
    const base::duration error = measured > smoothed_ ? measured - smoothed_ : smoothed_ - measured;
    deviation_ += (error - deviation_) / 4;
    smoothed_ += (measured - smoothed_) / 8;
  }

  /// Smoothed + 4 deviations, at least a tenth of `limit` above the smoothed, so that round trips
  /// that are all alike leave room; at most `limit`, which it is until something was measured.
  base::duration timeout(base::duration limit) const noexcept {
    if (!measured_) return limit;
    return std::min(smoothed_ + std::max(4 * deviation_, limit / 10), limit);
  }

  base::duration smoothed() const noexcept { return smoothed_; }
  base::duration deviation() const noexcept { return deviation_; }

 private:
  base::duration smoothed_{};
  base::duration deviation_{};
  bool measured_ = false;
};

}  // namespace lifering::swim
