#include "net/unopened_peers.hpp"

#include <algorithm>
#include <ratio>
#include <string_view>

#include "swim/record.hpp"

namespace lifering::net {
namespace {

constexpr std::uint32_t number_mask = 0x7fff'ffff;

/// The low bits of a time, which come again after two years.
using ticks = std::chrono::duration<std::int64_t, std::ratio<1, 64>>;

std::uint32_t ticks_of(base::time_point time) {
  return static_cast<std::uint32_t>(
      std::chrono::duration_cast<ticks>(time.time_since_epoch()).count());
}

bool is_recent(std::uint32_t then, base::time_point now) {
  constexpr auto patience = std::chrono::duration_cast<ticks>(unopened_peers::patience).count();
  return ticks_of(now) - then <= patience;
}

std::uint32_t hash_of(const endpoint& address) {
  const std::string_view bytes(reinterpret_cast<const char*>(address.bytes.data()),
                               address.bytes.size());
  return static_cast<std::uint32_t>(
      swim::digest_of(swim::hash_bytes(bytes), address.port, address.scope));
}

std::uint32_t short_id(std::string_view name, std::uint64_t epoch) {
  return static_cast<std::uint32_t>(swim::life_id(name, epoch));
}

}  // namespace

std::vector<unopened_peers::peer>::iterator unopened_peers::place_of(std::uint32_t address) {
  return std::ranges::lower_bound(peers_, address, {}, &peer::at);
}

unopened_peers::peer* unopened_peers::find(std::uint32_t address) {
  const auto place = place_of(address);
  return place != peers_.end() && place->at == address ? &*place : nullptr;
}

void unopened_peers::opened(const endpoint& from, const swim::sender& by, base::time_point now) {
  const std::uint32_t address = hash_of(from);
  peer* known = find(address);
  if (known == nullptr) {
    if (!make_room(now)) return;
    known = &*peers_.insert(place_of(address), peer());
    known->at = address;
  }
  peer& held = *known;
  held.life = short_id(by.name, by.epoch);
  held.last_opened = ticks_of(now);
  held.in_doubt = 0;
}

bool unopened_peers::make_room(base::time_point now) {
  if (peers_.size() < peers_max_) return true;
  std::erase_if(peers_, [now](const auto& each) { return !is_recent(each.last_opened, now); });
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
  return !is_first_try && held.in_doubt != 0 && is_recent(held.last_opened, now) &&
         held.life == short_id(asked.target, asked.target_epoch);
}

}  // namespace lifering::net
