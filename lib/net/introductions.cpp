#include "net/introductions.hpp"

#include <algorithm>
#include <utility>

namespace lifering::net {

void introductions::add(swim::record_ptr life, std::size_t members, bool second,
                        base::time_point now) {
  if (waiting_.size() >= lives_max_) return;
  const auto all = static_cast<std::int64_t>(members) * base::duration(for_each_member);
  const base::duration wait(
      static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(all.count()) + 1)));
  const auto first = now + pause_;
  waiting_.push_back({first + wait + (second ? all : base::duration{}), std::move(life)});
  std::push_heap(waiting_.begin(), waiting_.end(), is_later);
}

swim::record_ptr introductions::take(base::time_point now) {
  if (waiting_.empty() || waiting_.front().due > now + base::duration(together)) return nullptr;
  std::pop_heap(waiting_.begin(), waiting_.end(), is_later);
  auto next = std::move(waiting_.back().life);
  waiting_.pop_back();
  if (waiting_.empty()) waiting_.shrink_to_fit();
  return next;
}

void introductions::put_off(base::time_point now) noexcept {
  if (now < put_off_until_) return;
  put_off_until_ = now + pause_;
  for (turn& each : waiting_)  // The order stays.
    each.due += pause_;
}

base::time_point introductions::next_deadline() const noexcept {
  return waiting_.empty() ? base::never : waiting_.front().due;
}

}  // namespace lifering::net
