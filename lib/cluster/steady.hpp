// The system's steady clock as the time of the pure floors, and back for timers.
#pragma once

#include <chrono>

#include "base/time.hpp"

namespace lifering::cluster_detail {

inline base::time_point steady_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return base::time_point(std::chrono::duration_cast<base::duration>(since));
}

inline std::chrono::steady_clock::time_point steady_time(base::time_point time) {
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(time.time_since_epoch()));
}

}  // namespace lifering::cluster_detail
