#include "swim/newcomers.hpp"

#include <algorithm>

namespace lifering::swim {

bool newcomers::must_prove() const noexcept {
  return shared_.now - shared_.started >= base::duration(shared_.settings.timing.grave_time) ||
         shared_.counters.graves_evicted > 0;
}

void newcomers::ask(const record_ptr& life, bool by_itself) {
  // Each life of a name by itself: one that has ended can't answer, and mustn't have another one
  // wait for it, whose epoch may be lower.
  const auto known = std::find_if(asked_.begin(), asked_.end(), [&](const admission& each) {
    return each.life()->epoch == life->epoch && each.life()->name == life->name;
  });
  if (known != asked_.end()) {
    if (by_itself) known->hurry();
    if (life->incarnation > known->life()->incarnation) known->renew(shared_, life);
    return;
  }
  if (asked_.size() >= candidates_max) {
    ++shared_.counters.dropped_unanswered;
    return;
  }
  asked_.emplace_back(by_itself ? admission::pace::soon : admission::pace::easy)
      .ask(shared_, life, false);
}

record_ptr newcomers::on_ack(std::uint64_t sequence, const sender& by) {
  const auto found = std::find_if(asked_.begin(), asked_.end(),
                                  [&](admission& each) { return each.on_ack(sequence, by); });
  if (found == asked_.end()) return nullptr;
  record_ptr proved = found->life();
  asked_.erase(found);
  return proved;
}

bool newcomers::asks_at(const endpoint& address) const noexcept {
  return std::any_of(asked_.begin(), asked_.end(),
                     [&address](const admission& each) { return each.life()->address == address; });
}

void newcomers::advance() {
  for (admission& each : asked_)
    each.advance(shared_);
  shared_.counters.dropped_unanswered +=
      std::erase_if(asked_, [](const admission& each) { return each.given_up(); });
}

base::time_point newcomers::next_deadline() const noexcept {
  base::time_point next = base::never;
  for (const admission& each : asked_)
    next = std::min(next, each.next_deadline());
  return next;
}

}  // namespace lifering::swim
