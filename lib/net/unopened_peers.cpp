#include "net/unopened_peers.hpp"

#include <algorithm>
#include <string_view>

#include "swim/record.hpp"

namespace lifering::net {
namespace {

constexpr std::uint32_t number_mask = 0x7fff'ffff;

std::uint64_t hash_of(const endpoint& address) {
  const std::string_view bytes(reinterpret_cast<const char*>(address.bytes.data()),
                               address.bytes.size());
  return swim::digest_of(swim::hash_bytes(bytes), address.port, address.scope);
}

std::uint32_t short_id(std::string_view name, std::uint64_t epoch) {
  return static_cast<std::uint32_t>(swim::life_id(name, epoch));
}

}  // namespace

std::vector<unopened_peers::peer>::iterator unopened_peers::place_of(std::uint64_t address) {
  return std::ranges::lower_bound(peers_, address, {}, &peer::at);
}

unopened_peers::peer* unopened_peers::find(std::uint64_t address) {
  const auto place = place_of(address);
  return place != peers_.end() && place->at == address ? &*place : nullptr;
}

void unopened_peers::opened(const endpoint& from, const swim::sender& by, base::time_point now) {
  const std::uint64_t address = hash_of(from);
  peer* known = find(address);
  if (known == nullptr) {
    if (!make_room(now)) return;
    known = &*peers_.insert(place_of(address), peer());
    known->at = address;
  }
  peer& held = *known;
  held.life = short_id(by.name, by.epoch);
  held.last_opened = now;
  held.in_doubt = 0;
}

bool unopened_peers::make_room(base::time_point now) {
  if (peers_.size() < peers_max_) return true;
  std::erase_if(peers_, [now](const auto& each) { return now - each.last_opened > patience; });
  return peers_.size() < peers_max_;
}

void unopened_peers::unopened(const endpoint& from) {
  if (peer* const known = find(hash_of(from))) known->in_doubt = 1;
}

bool unopened_peers::counts_as_answered(const endpoint& to, const swim::ping& asked,
                                        base::time_point now) {
  peer* const known = find(hash_of(to));
  if (known == nullptr) return false;
  peer& held = *known;
  // The first try has its chance, so that no round trip is measured that didn't happen.
  const std::uint32_t number = asked.sequence & number_mask;
  const bool is_first_try = held.last_ping != number;
  held.last_ping = number & number_mask;
  return !is_first_try && held.in_doubt != 0 && now - held.last_opened <= patience &&
         held.life == short_id(asked.target, asked.target_epoch);
}

}  // namespace lifering::net
