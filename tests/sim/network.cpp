#include "sim/network.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace lifering::sim {

network::network(world& clock, faults& state, hosts& where, network_options options,
                 base::rng random)
    : clock_(clock), faults_(state), hosts_(where), options_(options), random_(random) {
  LIFERING_CHECK(options_.latency_min <= options_.latency_max);
  LIFERING_CHECK(options_.latency_min.count() >= 0);
}

void network::connect(receiver on_receive, refusal on_refusal) {
  on_receive_ = std::move(on_receive);
  on_refusal_ = std::move(on_refusal);
}

void network::send(node_id from, const endpoint& to, std::span<const std::uint8_t> datagram) {
  ++counters_.sent;
  const node_id target = hosts_.owner(to).value_or(0);
  const bool is_lost = target != 0 && lost(from, target);
  const bool is_double = random_.chance(options_.duplicate, certain);
  const bool is_late = random_.chance(options_.reorder, certain);
  duration first = draw_latency();
  const duration second = draw_latency();
  const auto held_back = static_cast<std::int64_t>(1 + random_.below(10));
  if (datagram.size() > options_.datagram) {
    ++counters_.too_large;
    return;
  }
  if (backlog(from) > send_queue) {
    ++counters_.congested;
    return;
  }
  const duration line = occupy(from, datagram.size());
  if (target == 0) {
    ++counters_.nobody;
    return;
  }
  if (faults_.is_cut(from, target)) {
    ++counters_.cut;
    return;
  }
  if (is_lost) {
    ++counters_.lost;
    return;
  }
  if (is_late) {
    ++counters_.held_back;
    first += options_.latency_max * held_back;
  }
  fly(from, to, datagram, line + first);
  if (is_double) {
    ++counters_.duplicated;
    fly(from, to, datagram, line + second);
  }
}

bool network::lost(node_id from, node_id to) {
  // One draw against the product of the three ways to survive, in exact integers.
  const auto survives = [](ppm loss) { return std::uint64_t{certain} - loss; };
  const std::uint64_t all = std::uint64_t{certain} * certain * certain;
  const std::uint64_t good =
      survives(options_.loss) * survives(faults_.loss_out(from)) * survives(faults_.loss_in(to));
  return random_.below(all) >= good;
}

bool network::passes(node_id from, node_id to) {
  const bool is_lost = lost(from, to);
  return !is_lost && !faults_.is_cut(from, to);
}

duration network::draw_latency() {
  const auto spread =
      static_cast<std::uint64_t>((options_.latency_max - options_.latency_min).count());
  return options_.latency_min + duration{static_cast<std::int64_t>(random_.below(spread + 1))};
}

duration network::backlog(node_id from) const noexcept {
  if (from >= busy_until_.size()) return duration::zero();
  return std::max(busy_until_[from] - clock_.now(), duration::zero());
}

duration network::occupy(node_id from, std::size_t bytes) {
  if (options_.bandwidth == 0) return duration::zero();
  if (busy_until_.size() <= from) busy_until_.resize(from + std::size_t{1}, clock_.now());
  const auto time = duration{
      static_cast<std::int64_t>(std::uint64_t{bytes} * 1'000'000'000 / options_.bandwidth)};
  busy_until_[from] = std::max(busy_until_[from], clock_.now()) + time;
  return busy_until_[from] - clock_.now();
}

void network::fly(node_id from, const endpoint& to, std::span<const std::uint8_t> datagram,
                  duration time) {
  std::uint32_t slot = 0;
  if (free_flights_.empty()) {
    slot = static_cast<std::uint32_t>(flights_.size());
    flights_.emplace_back();
  } else {
    slot = free_flights_.back();
    free_flights_.pop_back();
  }
  flight& item = flights_[slot];
  item.from = from;
  item.sender = hosts_.address(from);
  item.to = to;
  item.bytes.assign(datagram.begin(), datagram.end());
  clock_.after(time, [this, slot] { arrive(slot); });
}

void network::arrive(std::uint32_t slot) {
  const node_id target = *hosts_.owner(flights_[slot].to);
  switch (hosts_.at(flights_[slot].to)) {
    case presence::silent:
      ++counters_.nobody;
      return release(slot);
    case presence::refusing:
      return refuse(slot, target);
    case presence::running:
      break;
  }
  const bool fits =
      hosts_.deliver(target, std::max<std::size_t>(flights_[slot].bytes.size(), 1), [this, slot] {
        // The datagram leaves its slot meanwhile: what the receiver sends may move the slots.
        ++counters_.delivered;
        flight item = std::move(flights_[slot]);
        on_receive_(*hosts_.owner(item.to), item.sender, item.bytes);
        flights_[slot] = std::move(item);
        release(slot);
      });
  if (!fits) {
    ++counters_.overrun;
    release(slot);
  }
}

void network::refuse(std::uint32_t slot, node_id by) {
  // The host's ICMP message travels back, and may be lost as any packet.
  const node_id sender = flights_[slot].from;
  const endpoint refused = flights_[slot].to;
  const endpoint back_to = flights_[slot].sender;
  release(slot);
  const duration time = draw_latency();
  if (!passes(by, sender)) return;
  clock_.after(time, [this, sender, refused, back_to] {
    if (hosts_.at(back_to) != presence::running) return;
    ++counters_.refused;
    hosts_.deliver(sender, 0, [this, sender, refused] { on_refusal_(sender, refused); });
  });
}

void network::release(std::uint32_t slot) {
  free_flights_.push_back(slot);
}

}  // namespace lifering::sim
