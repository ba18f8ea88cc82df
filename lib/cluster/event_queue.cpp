#include "cluster/event_queue.hpp"

#include <algorithm>
#include <utility>

namespace lifering::cluster_detail {
namespace {

constexpr std::size_t buckets_kept = 32;

/// Whether the event says something about ourselves that no state shows. It is folded into its like
/// only.
bool says_more(event_kind kind) noexcept {
  return kind == event_kind::superseded || kind == event_kind::isolated;
}

/// The kind of the step from one state to another; nothing where an observer needs none.
std::optional<event_kind> step(const std::optional<seen_state>& before, const member& after) {
  if (!before) {
    return after.present() ? std::optional(event_kind::joined) : std::nullopt;
  }
  switch (after.state) {
    case member_state::failed:
      return event_kind::failed;
    case member_state::left:
      return event_kind::left;
    case member_state::suspect:
      if (before->state == member_state::alive) return event_kind::suspected;
      break;
    case member_state::alive:
      if (before->state == member_state::suspect && before->epoch == after.epoch) {
        return event_kind::recovered;
      }
      break;
  }
  return event_kind::updated;
}

}  // namespace

bool event_queue::merge(member_change& change, position waiting) {
  const auto& older = std::get<member_change>(waiting->value);
  const bool alike = older.kind == change.kind;
  if (!alike && (says_more(older.kind) || says_more(change.kind))) return false;
  change.before = older.before;
  const std::uint32_t folded = waiting->merged + 1;
  ++merged_;
  last_of_member_.erase(change.after->name);
  entries_.erase(waiting);
  const auto kind = says_more(change.kind) ? change.kind : step(change.before, *change.after);
  if (!kind) {
    ++merged_;  // The new one disappears as well.
    return true;
  }
  change.kind = *kind;
  add(std::move(change), folded);
  return true;
}

void event_queue::push(member_change change) {
  const auto waiting = last_of_member_.find(change.after->name);
  if (waiting != last_of_member_.end()) {
    if (entries_.size() >= limit_ && merge(change, waiting->second)) return;
    last_of_member_.erase(waiting);
  }
  add(std::move(change), 0);
}

void event_queue::add(member_change change, std::uint32_t merged) {
  const std::string_view name = change.after->name;
  entries_.push_back({std::move(change), merged});
  last_of_member_.emplace(name, std::prev(entries_.end()));
}

void event_queue::push(const ring_event& change) {
  entries_.push_back({change});
  if (entries_.size() > limit_ && last_of_ring_) {
    const auto& older = std::get<ring_event>((*last_of_ring_)->value);
    auto& newer = std::get<ring_event>(entries_.back().value);
    newer.moved = std::min(1.0, newer.moved + older.moved);
    entries_.erase(*last_of_ring_);
    ++merged_;
  }
  last_of_ring_ = std::prev(entries_.end());
}

std::optional<event> event_queue::pop() {
  if (entries_.empty()) return std::nullopt;
  const auto first = entries_.begin();
  event result;
  if (const auto* change = std::get_if<member_change>(&first->value)) {
    const auto last = last_of_member_.find(change->after->name);
    if (last != last_of_member_.end() && last->second == first) last_of_member_.erase(last);
    result =
        member_event{change->kind, ++last_number_, change->time, first->merged, *change->after};
  } else {
    if (last_of_ring_ == first) last_of_ring_.reset();
    auto& ring = std::get<ring_event>(first->value);
    ring.number = ++last_number_;
    result = ring;
  }
  entries_.pop_front();
  // Of an empty map the table stays as large as a storm made it.
  if (entries_.empty() && last_of_member_.bucket_count() > buckets_kept) {
    last_of_member_ = decltype(last_of_member_)();
  }
  return result;
}

}  // namespace lifering::cluster_detail
