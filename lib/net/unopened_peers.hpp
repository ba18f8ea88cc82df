// Members whose packets can't be opened any more, as when a key was rotated in the wrong order: for
// a while such packets still count as life.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <vector>

#include "base/time.hpp"
#include "swim/message.hpp"

namespace lifering::net {

/// The lives whose sealed packets were opened, by the address that they came from.
///
/// From the first packet of an address that can't be opened, until 60 s after the last one that
/// could, a ping to that life counts as answered at its second try. Whoever fakes such packets can
/// hide a death for that long, and no longer.
///
/// Addresses and lives are known by hashes, since there is one of each for every member, in every
/// member. Two that share one by chance share the doubt about them, or have none of the protection.
class unopened_peers {
 public:
  static constexpr base::duration patience = std::chrono::seconds(60);

  /// Remembers at most so many; further ones have no such protection.
  explicit unopened_peers(std::size_t peers_max) : peers_max_(peers_max) {}

  void opened(const endpoint& from, const swim::sender& by, base::time_point now);
  void unopened(const endpoint& from);

  /// A ping is being sent. True if it counts as answered.
  bool counts_as_answered(const endpoint& to, const swim::ping& asked, base::time_point now);

 private:
  struct peer {
    std::uint32_t at = 0;
    std::uint32_t last_opened = 0;     // In ticks.
    std::uint32_t life = 0;            // The low bits of its life_id().
    std::uint32_t last_ping : 31 = 0;  // The low bits of its number.
    std::uint32_t in_doubt : 1 = 0;    // The last packet could not be opened.
  };
  static_assert(sizeof(peer) <= 16, "one a member, in each member");

  /// Where that address is, or where it would be.
  std::vector<peer>::iterator place_of(std::uint32_t address);
  peer* find(std::uint32_t address);
  bool make_room(base::time_point now);

  std::size_t peers_max_;
  std::vector<peer> peers_;  // By address.
};

}  // namespace lifering::net
