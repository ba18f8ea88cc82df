#include "net/unopened_peers.hpp"

namespace lifering::net {

void unopened_peers::opened(const endpoint& from, const swim::sender& by, base::time_point now) {
  auto found = peers_.find(from);
  if (found == peers_.end()) {
    if (!make_room(now)) return;
    found = peers_.try_emplace(from).first;
  }
  peer& held = found->second;
  if (held.name != by.name) held.name = by.name;
  held.epoch = by.epoch;
  held.incarnation = by.incarnation;
  held.ring_fingerprint = by.ring_fingerprint;
  held.last_opened = now;
  held.in_doubt = false;
}

bool unopened_peers::make_room(base::time_point now) {
  if (peers_.size() < peers_max_) return true;
  std::erase_if(peers_,
                [now](const auto& each) { return now - each.second.last_opened > patience; });
  return peers_.size() < peers_max_;
}

void unopened_peers::unopened(const endpoint& from) {
  const auto found = peers_.find(from);
  if (found != peers_.end()) found->second.in_doubt = true;
}

bool unopened_peers::counts_as_answered(const endpoint& to, const swim::ping& asked,
                                        base::time_point now, swim::sender& answer) {
  const auto found = peers_.find(to);
  if (found == peers_.end()) return false;
  peer& held = found->second;
  // The first try has its chance, so that no round trip is measured that didn't happen.
  const bool is_first_try = held.last_ping != asked.sequence;
  held.last_ping = asked.sequence;
  if (is_first_try || !held.in_doubt || now - held.last_opened > patience ||
      held.name != asked.target || held.epoch != asked.target_epoch) {
    return false;
  }
  answer.name = held.name;
  answer.epoch = held.epoch;
  answer.incarnation = held.incarnation;
  answer.ring_fingerprint = held.ring_fingerprint;
  return true;
}

}  // namespace lifering::net
