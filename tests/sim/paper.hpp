// The tables of the papers, reproduced.
#pragma once

#include <cstdint>
#include <string_view>

namespace lifering::sim {

struct paper_options {
  bool sample = false;  ///< A small part, for the test run.
  std::uint64_t seed = 1;
  unsigned jobs = 1;
};

/// Prints one table; 0 if it is as the paper says, 1 if not. `table` is detection, load,
/// false-detections or lifeguard; throws std::invalid_argument for any other.
int reproduce(std::string_view table, const paper_options& options);

}  // namespace lifering::sim
