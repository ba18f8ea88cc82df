#include "cluster/health.hpp"

namespace lifering::cluster_detail {

void health_rule::report(bool good, base::time_point now) {
  if (good == last_good_) return;
  last_good_ = good;
  since_ = now;
}

bool health_rule::advance(base::time_point now) {
  if (now < next_deadline()) return false;
  sick_ = !last_good_;
  return true;
}

base::time_point health_rule::next_deadline() const noexcept {
  if (sick_ != last_good_) return base::never;  // What was said last is what holds.
  return since_ + (sick_ ? good_for_ : bad_for_);
}

}  // namespace lifering::cluster_detail
