// What a process takes of its machine, measured again and again, and whether that grows.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace lifering_test {

class resources {
 public:
  struct sample {
    double mib = 0;  ///< Resident.
    std::size_t handles = 0;
  };
  /// Measures it now.
  const sample& measure(pid_t pid);

  struct growth {
    double mib = 0;
    double handles = 0;
  };
  /// From the second quarter of the time to the last one, by their medians. Nothing before there
  /// are four samples.
  std::optional<growth> grown() const;

 private:
  std::vector<sample> samples_;
};

}  // namespace lifering_test
