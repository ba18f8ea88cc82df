#include "swim/newcomers.hpp"

#include <algorithm>
#include <utility>

namespace lifering::swim {

bool newcomers::must_prove() const noexcept {
  return shared_.now - shared_.started >= base::duration(shared_.settings.timing.grave_time) ||
         shared_.counters.graves_evicted > 0;
}

void newcomers::ask(const record_ptr& life, bool by_itself) {
  // Each life of a name by itself: one that has ended can't answer, and mustn't have another one
  // wait for it, whose epoch may be lower.
  const auto known = std::find_if(asked_.begin(), asked_.end(), [&](const candidate& c) {
    return c.life->epoch == life->epoch && c.life->name == life->name;
  });
  if (known != asked_.end()) {
    known->by_itself = known->by_itself || by_itself;
    if (life->incarnation <= known->life->incarnation) return;
    const bool moved = life->address != known->life->address;
    known->life = life;
    if (moved) begin(*known);
    return;
  }
  if (asked_.size() >= candidates_max) {
    ++shared_.counters.dropped_unanswered;
    return;
  }
  candidate& added = asked_.emplace_back();
  added.life = life;
  added.by_itself = by_itself;
  begin(added);
}

/// Under a number of its own, which an answer from where it was before doesn't have.
void newcomers::begin(candidate& with) {
  with.sequence = shared_.next_sequence();
  with.tries = 0;
  send(with);
}

void newcomers::send(candidate& to) {
  ++to.tries;
  to.next_try = shared_.now + (to.by_itself ? admission::gap(shared_.settings.timing, to.tries)
                                            : shared_.ping_timeout() * to.tries);
  shared_.datagram(to.life->address).ask(to.sequence, to.life->name, to.life->epoch);
}

record_ptr newcomers::on_ack(std::uint64_t sequence, const sender& by) {
  const auto found = std::find_if(asked_.begin(), asked_.end(), [sequence](const candidate& c) {
    return c.sequence == sequence;
  });
  if (found == asked_.end() || by.name != found->life->name || by.epoch != found->life->epoch) {
    return nullptr;
  }
  record_ptr proved = std::move(found->life);
  asked_.erase(found);
  return proved;
}

bool newcomers::asks_at(const endpoint& address) const noexcept {
  return std::any_of(asked_.begin(), asked_.end(),
                     [&address](const candidate& c) { return c.life->address == address; });
}

void newcomers::advance() {
  for (std::size_t i = 0; i < asked_.size();) {
    candidate& each = asked_[i];
    if (each.next_try > shared_.now) {
      ++i;
    } else if (each.tries < (each.by_itself ? admission::tries_max : tries_max)) {
      send(each);
      ++i;
    } else {
      ++shared_.counters.dropped_unanswered;
      asked_.erase(asked_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

base::time_point newcomers::next_deadline() const noexcept {
  base::time_point next = base::never;
  for (const candidate& each : asked_)
    next = std::min(next, each.next_try);
  return next;
}

}  // namespace lifering::swim
