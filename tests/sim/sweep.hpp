// Many seeds of one scenario, each a run of its own, in as many processes as wanted. A process that
// dies costs its seed only, and its replay line is known.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/scenario.hpp"
#include "sim/tally.hpp"
#include "sim/traffic.hpp"

namespace lifering::sim {

struct sweep_options {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
  unsigned jobs = 1;
  bool verbose = false;  ///< A line for every seed.
};

struct sweep_result {
  std::uint64_t runs = 0;
  std::uint64_t failed = 0;
  counts sums;   ///< Counters and events over all runs that came to an end.
  counts seeds;  ///< In how many seeds each of them was not 0.
  /// Milliseconds from each crash to its first and last survivor's event and from the last
  /// disturbance to agreement, and false failures; one sample a crash, or a run.
  std::map<std::string, distribution> samples;
};

/// Prints what fails to stderr: what, and the line that replays it.
sweep_result run_sweep(const scenario& given, const sweep_options& options);

/// The counters that a sweep of random scenarios must have seen, and didn't.
std::string unseen(const sweep_result& of, const random_part& drawn);

}  // namespace lifering::sim
