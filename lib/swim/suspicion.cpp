#include "swim/suspicion.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/integer_log.hpp"

namespace lifering::swim {

base::duration suspicion_timeout(base::duration min, base::duration max, unsigned confirmations,
                                 unsigned expected) noexcept {
  if (expected == 0 || confirmations >= expected) return min;
  const auto share = std::uint64_t{base::log2_q16(confirmations + 1)} * 65536 /
                     base::log2_q16(std::uint64_t{expected} + 1);
  // Whole microseconds keep the product within 64 bits for suspicions of weeks.
  const auto range = std::chrono::floor<std::chrono::microseconds>(max - min).count();
  const auto removed = static_cast<std::int64_t>(static_cast<std::uint64_t>(range) * share / 65536);
  return std::max(min, max - std::chrono::microseconds(removed));
}

base::duration suspicion_minimum(unsigned multiplier, std::size_t members,
                                 base::duration interval) noexcept {
  const auto scale =
      std::max<std::uint32_t>(1000, base::log10_thousandths(std::max<std::size_t>(1, members)));
  return interval * multiplier * scale / 1000;
}

bool suspicion::add(std::string_view name, std::uint64_t epoch, bool refused) {
  for (auto& known : accusers) {
    if (known.name != name) continue;
    if (refused) known.refused = true;
    return false;
  }
  if (accusers.size() >= accusers_max) return false;
  accusers.push_back({std::string(name), epoch, refused});
  return true;
}

std::size_t suspicion::refusals() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(accusers.begin(), accusers.end(), [](const auto& a) { return a.refused; }));
}

bool suspicion::accused_by(std::string_view name) const noexcept {
  return std::any_of(accusers.begin(), accusers.end(),
                     [name](const auto& a) { return a.name == name; });
}

suspicion* suspicion_set::find(row_id subject) noexcept {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [subject](const auto& s) { return s.subject == subject; });
  return found == running_.end() ? nullptr : &*found;
}

suspicion& suspicion_set::start(row_id subject, base::time_point now) {
  LIFERING_CHECK(find(subject) == nullptr);
  suspicion& added = running_.emplace_back();
  added.subject = subject;
  added.started = now;
  added.deadline = base::never;
  return added;
}

void suspicion_set::stop(row_id subject) noexcept {
  if (suspicion* found = find(subject)) {
    if (found != &running_.back()) *found = std::move(running_.back());
    running_.pop_back();
  }
}

base::time_point suspicion_set::next_deadline() const noexcept {
  base::time_point next = base::never;
  for (const auto& s : running_)
    next = std::min(next, s.deadline);
  return next;
}

suspicion* suspicion_set::due(base::time_point now) noexcept {
  suspicion* first = nullptr;
  for (auto& s : running_) {
    if (s.deadline <= now && (!first || s.deadline < first->deadline)) first = &s;
  }
  return first;
}

void suspicion_set::postpone(base::duration by, base::time_point now) noexcept {
  for (auto& s : running_) {
    // Not into the future, else what the suspect says until then wouldn't speak for it.
    s.started = std::min(s.started + by, now);
    s.deadline += by;
  }
}

}  // namespace lifering::swim
