// Local Health Awareness (Lifeguard, section IV): how far this member trusts its own ears.
#pragma once

#include "base/time.hpp"

namespace lifering::swim {

/// A saturating score: 0 is healthy, `max` is the worst. Missed acks and nacks and accusations
/// against ourselves raise it, answered probes lower it; it stretches our own deadlines.
class local_health {
 public:
  explicit local_health(unsigned max) noexcept : max_(max) {}

  unsigned score() const noexcept { return score_; }

  void worse(unsigned by) noexcept { score_ = by >= max_ - score_ ? max_ : score_ + by; }
  void better() noexcept {
    if (score_ > 0) --score_;
  }

  /// Lifeguard's rule for intervals and timeouts: times (score + 1).
  base::duration scale(base::duration value) const noexcept { return value * (score_ + 1); }

 private:
  unsigned max_;
  unsigned score_ = 0;
};

}  // namespace lifering::swim
