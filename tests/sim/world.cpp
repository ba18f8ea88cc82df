#include "sim/world.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace lifering::sim {

void world::at(time_point when, action what) {
  LIFERING_CHECK(when >= now_);
  if (when == base::never) return;
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(actions_.size());
    actions_.push_back(std::move(what));
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    actions_[slot] = std::move(what);
  }
  heap_.push_back({when, next_number_++, slot});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

bool world::step(time_point end) {
  if (heap_.empty() || heap_.front().when > end) return false;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const entry next = heap_.back();
  heap_.pop_back();
  now_ = next.when;
  ++steps_;
  // Moved out first: the action may add others and so move the slots.
  const action what = std::exchange(actions_[next.slot], nullptr);
  free_slots_.push_back(next.slot);
  what();
  return true;
}

void world::run_until(time_point end) {
  while (step(end)) {
  }
  now_ = std::max(now_, end);
}

}  // namespace lifering::sim
