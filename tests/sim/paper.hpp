// The tables of the papers, reproduced: SWIM's (DSN 2002) and Lifeguard's (2018).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "sim/profile.hpp"

namespace lifering::sim {

struct paper_options {
  bool sample = false;  ///< A small part, for the test run.
  std::uint64_t seed = 1;
  unsigned jobs = 1;
};

/// Prints one table; 0 if it is as the paper says, 1 if not. `table` is detection, load,
/// false-detections or lifeguard; throws std::invalid_argument for any other.
int reproduce(std::string_view table, const paper_options& options);

/// SWIM, section 3: periods until a crash is first noticed.
int reproduce_detection(const paper_options& options);
/// SWIM, section 6: messages a member sends and receives in a period.
int reproduce_load(const paper_options& options);
/// SWIM, section 3: how often a live member is taken for dead at a given loss.
int reproduce_false_detections(const paper_options& options);
/// Lifeguard, tables IV and VI: the five variants under blocked members.
int reproduce_lifeguard(const paper_options& options);

/// SWIM without anything that came later, and without the suspicion of its section 4.2: a probe
/// each second, an answer within half of it or three helpers.
profile plain_swim();

/// Runs items 0 to count - 1, each a world of its own, on that many threads.
void in_parallel(std::size_t count, unsigned jobs, const std::function<void(std::size_t)>& run);

}  // namespace lifering::sim
