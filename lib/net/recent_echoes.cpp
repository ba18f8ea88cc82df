#include "net/recent_echoes.hpp"

namespace lifering::net {

void recent_echoes::add(const endpoint& by, std::uint64_t number, base::time_point now) {
  if (last_.size() == kept_max) last_.pop_front();
  last_.push_back({by, number, now});
}

void recent_echoes::forget_old(base::time_point now) {
  while (!last_.empty() && now - last_.front().at > base::duration(keep_time))
    last_.pop_front();
}

std::uint64_t recent_echoes::number_for(const endpoint& to, base::time_point now) const {
  for (auto each = last_.rbegin(); each != last_.rend(); ++each) {  // The newest first.
    if (now - each->at > base::duration(keep_time)) return 0;
    if (each->by == to) return each->number;
  }
  return 0;
}

}  // namespace lifering::net
