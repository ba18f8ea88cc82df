// Where members are, for the moment in which connections are turned away: who floods us with them
// can have every address but those. A connection whose handshake was completed shows where it comes
// from, other than a datagram.
#pragma once

#include <chrono>
#include <lifering/endpoint.hpp>
#include <vector>

#include "base/time.hpp"
#include "swim/protocol.hpp"

namespace lifering::net {

class member_sources {
 public:
  /// Whether a present member is said to be at that source. Of who came less than `renew_time` ago
  /// that may not be known yet.
  bool contains(const endpoint& source, const swim::protocol& members, base::time_point now);

  /// The list is made when it is asked for, as a rule never, and in a flood not for each question.
  static constexpr std::chrono::seconds renew_time{1};

 private:
  std::vector<endpoint> sources_;  // In order, each once.
  base::time_point renew_at_{};
};

}  // namespace lifering::net
