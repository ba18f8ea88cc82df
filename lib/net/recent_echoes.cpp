#include "net/recent_echoes.hpp"

namespace lifering::net {

void recent_echoes::add(const endpoint& by, std::uint64_t number, base::time_point now) {
  last_[next_] = {by, number, now};
  next_ = (next_ + 1) % kept_max;
  latest_ = now;
}

std::uint64_t recent_echoes::number_for(const endpoint& to, base::time_point now) const {
  if (now - latest_ > base::duration(keep_time)) return 0;  // As nearly always.
  for (std::size_t i = 1; i <= kept_max; ++i) {             // The newest first.
    const asked& each = last_[(next_ + kept_max - i) % kept_max];
    if (now - each.at > base::duration(keep_time)) return 0;
    if (each.number != 0 && each.by == to) return each.number;
  }
  return 0;
}

}  // namespace lifering::net
