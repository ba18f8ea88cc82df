// The numbers that peers have lately asked us to echo. The packet with the echo may be lost, so
// those that follow it have it too: otherwise each of them would be dropped, and bring another
// challenge.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <list>

#include "base/time.hpp"

namespace lifering::net {

class recent_echoes {
 public:
  /// `by` has asked for the echo of that number.
  void add(const endpoint& by, std::uint64_t number, base::time_point now);

  /// Gives back what nobody needs any more; for any moment at which there is time.
  void forget_old(base::time_point now);

  /// What a packet to that peer is to echo; 0 for nothing.
  std::uint64_t number_for(const endpoint& to, base::time_point now) const;

 private:
  struct asked {
    endpoint by;
    std::uint64_t number = 0;
    base::time_point at{};
  };

  static constexpr std::chrono::seconds keep_time{2};  // A challenge is good for five at least.
  static constexpr std::size_t kept_max = 32;

  std::list<asked> last_;  // The newest at the end.
};

}  // namespace lifering::net
