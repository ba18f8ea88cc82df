// What a placement can't do well with the members that are there.
#pragma once

#include <lifering/placement.hpp>
#include <lifering/ring.hpp>
#include <string>
#include <utility>
#include <vector>

/// Looks at every ring of a cluster, which takes members as they are: two servers on one address,
/// say, that a placement by addresses can't tell apart. Whoever runs them wants to know.
class traps {
 public:
  explicit traps(lifering::placement_options placement) : placement_(std::move(placement)) {}

  /// The sentences about this ring that were not true of the one before.
  std::vector<std::string> look(const lifering::ring_table& ring);

 private:
  const lifering::placement_options placement_;
  std::vector<std::string> known_;
};
