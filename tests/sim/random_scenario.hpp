// Scenarios drawn from a seed, for sweeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario.hpp"

namespace lifering::sim {

/// Makes a scenario with a `random` line concrete: a size, a network and faults, each drawn whether
/// or not it is masked, so that a masked fault leaves all the others as they were. After the faults
/// everything is healed, whoever is down starts again, and the cluster has agreement_bound() to
/// come together. One without a `random` line is returned as it is.
scenario drawn_from(const scenario& given, std::uint64_t seed);

/// The first name that is no fault that can be masked; empty if all are.
std::string unknown_fault(const std::vector<std::string>& names);

/// The longest time after the last fault that a cluster of this size may take to agree: two
/// suspicions of the longest kind, a periodic exchange of views, one stream's deadline and some
/// rounds of gossip.
base::duration agreement_bound(const swim::config& machine, node_id nodes);

}  // namespace lifering::sim
