// A run's result for people and for programs.
#pragma once

#include <string>

#include "sim/simulation.hpp"

namespace lifering::sim {

/// The line that repeats a run.
std::string replay_line(const result& of);

/// One JSON object on one line.
std::string to_json(const result& of);

/// Some lines for people: the numbers, then each expectation and violation.
std::string to_text(const result& of);

/// Of a failed run, the first thing that went wrong, on one line.
std::string first_fault(const result& of);

}  // namespace lifering::sim
