// The durations and probabilities of scenarios, read and written exactly: no floating point.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "sim/faults.hpp"

namespace lifering::sim {

/// "200ms", "0.5s", "20us", "10m", "1h": digits, at most nine places, a unit. "0" needs none.
std::optional<base::duration> parse_duration(std::string_view text);

/// The shortest text in the greatest unit that fits: what parse_duration() reads back.
std::string to_string(base::duration value);

/// "0", "0.05", "1": parts of a million.
std::optional<ppm> parse_probability(std::string_view text);
std::string probability_text(ppm value);

}  // namespace lifering::sim
