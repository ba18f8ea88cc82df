// Whether the application can serve, with patience: a rule about what it says and for how long.
#pragma once

#include <lifering/options.hpp>

#include "base/time.hpp"

namespace lifering::cluster_detail {

/// Sick after bad words for `bad_for` without a good one, well again after good ones for
/// `good_for`. What was said holds until something else is said. Knows no clock and no thread.
class health_rule {
 public:
  explicit health_rule(const health_options& options)
      : bad_for_(options.bad_for), good_for_(options.good_for) {}

  void report(bool good, base::time_point now);

  /// Time has passed. True if that changed sick().
  bool advance(base::time_point now);

  bool sick() const noexcept { return sick_; }

  /// When advance() will change something if nothing else is said; never if not.
  base::time_point next_deadline() const noexcept;

 private:
  base::duration bad_for_;
  base::duration good_for_;
  bool last_good_ = true;
  base::time_point since_{};  ///< Of the last words, as far back as they were alike.
  bool sick_ = false;
};

}  // namespace lifering::cluster_detail
