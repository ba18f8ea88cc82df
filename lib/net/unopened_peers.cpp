#include "net/unopened_peers.hpp"

#include <algorithm>

#include "swim/record.hpp"

namespace lifering::net {

std::vector<unopened_peers::peer>::iterator unopened_peers::place_of(const endpoint& address) {
  return std::ranges::lower_bound(peers_, address, {}, &peer::at);
}

unopened_peers::peer* unopened_peers::find(const endpoint& address) {
  const auto place = place_of(address);
  return place != peers_.end() && place->at == address ? &*place : nullptr;
}

void unopened_peers::opened(const endpoint& from, const swim::sender& by, base::time_point now) {
  peer* known = find(from);
  if (known == nullptr) {
    if (!make_room(now)) return;
    known = &*peers_.insert(place_of(from), peer());
    known->at = from;
  }
  peer& held = *known;
  held.life = swim::life_id(by.name, by.epoch);
  held.incarnation = by.incarnation;
  held.ring_fingerprint = by.ring_fingerprint;
  held.last_opened = now;
  held.in_doubt = false;
}

bool unopened_peers::make_room(base::time_point now) {
  if (peers_.size() < peers_max_) return true;
  std::erase_if(peers_, [now](const auto& each) { return now - each.last_opened > patience; });
  return peers_.size() < peers_max_;
}

void unopened_peers::unopened(const endpoint& from) {
  if (peer* const known = find(from)) known->in_doubt = true;
}

bool unopened_peers::counts_as_answered(const endpoint& to, const swim::ping& asked,
                                        base::time_point now, swim::sender& answer) {
  peer* const known = find(to);
  if (known == nullptr) return false;
  peer& held = *known;
  // The first try has its chance, so that no round trip is measured that didn't happen.
  const auto number = static_cast<std::uint32_t>(asked.sequence);
  const bool is_first_try = held.last_ping != number;
  held.last_ping = number;
  if (is_first_try || !held.in_doubt || now - held.last_opened > patience ||
      held.life != swim::life_id(asked.target, asked.target_epoch)) {
    return false;
  }
  answer.name = asked.target;
  answer.epoch = asked.target_epoch;
  answer.incarnation = held.incarnation;
  answer.ring_fingerprint = held.ring_fingerprint;
  return true;
}

}  // namespace lifering::net
