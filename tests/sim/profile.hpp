// The parameter sets that scenarios name, as the machine takes them.
#pragma once

#include <optional>
#include <string_view>

#include "sim/network.hpp"
#include "swim/config.hpp"

namespace lifering::sim {

/// `lan`, `wan` and `local` are lifering's presets; `memberlist` has that library's LAN parameters
/// and none of what lifering adds to its rules, for comparison in one run.
struct profile {
  swim::config machine;
  network_options network;  ///< The latency that goes with it.
};

std::optional<profile> find_profile(std::string_view name);

/// Switches one part of the machine off by its name in swim::features. False: no such part.
bool switch_off(swim::features& parts, std::string_view name);

/// Sets one parameter by its name in protocol_options, limit_options or swim::config. The text is a
/// duration ("200ms") or a whole number. False: no such parameter, or not a value for it.
bool set_parameter(swim::config& machine, std::string_view name, std::string_view value);

}  // namespace lifering::sim
