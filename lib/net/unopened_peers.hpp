// Members whose packets can't be opened any more, as when a key was rotated in the wrong order: for
// a while such packets still count as life.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "swim/message.hpp"

namespace lifering::net {

/// The lives whose sealed packets were opened, by the address that they came from.
///
/// From the first packet of an address that can't be opened, until 60 s after the last one that
/// could, a ping to that life counts as answered at its second try. Whoever fakes such packets can
/// hide a death for that long, and no longer.
class unopened_peers {
 public:
  static constexpr base::duration patience = std::chrono::seconds(60);

  /// Remembers at most so many; further ones have no such protection.
  explicit unopened_peers(std::size_t peers_max) : peers_max_(peers_max) {}

  void opened(const endpoint& from, const swim::sender& by, base::time_point now);
  void unopened(const endpoint& from);

  /// A ping is being sent. True if it counts as answered: then `answer` is the sender of the ack,
  /// which speaks of no view: known_members is 0.
  bool counts_as_answered(const endpoint& to, const swim::ping& asked, base::time_point now,
                          swim::sender& answer);

 private:
  struct peer {
    endpoint at;
    std::uint64_t life = 0;  // Its life_id().
    std::uint64_t incarnation = 0;
    std::uint64_t ring_fingerprint = 0;
    base::time_point last_opened{};
    std::uint32_t last_ping = 0;  // The low bits of its number.
    bool in_doubt = false;        // The last packet could not be opened.
  };
  static_assert(sizeof(peer) <= 64, "one a member, in each member");

  /// Where that address is, or where it would be.
  std::vector<peer>::iterator place_of(const endpoint& address);
  peer* find(const endpoint& address);
  bool make_room(base::time_point now);

  std::size_t peers_max_;
  std::vector<peer> peers_;  // By address.
};

}  // namespace lifering::net
