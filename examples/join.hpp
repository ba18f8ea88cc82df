// Joining as a service does that may be started before its seeds.
#pragma once

#include <iostream>
#include <lifering/cluster.hpp>
#include <string>
#include <system_error>
#include <vector>

/// Throws for a text that is no seed. Seeds that don't answer are said and looked for on, by the
/// library, while the member serves alone.
inline void join_or_try_on(lifering::cluster& cluster, const std::vector<std::string>& seeds) {
  for (const auto& seed : seeds)
    lifering::throw_if(lifering::validate_seed(seed));
  std::error_code error;
  cluster.join(seeds, error);
  if (error) std::cerr << error.message() << "; trying on\n";
}
