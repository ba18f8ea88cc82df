#include "net/recently_asked.hpp"

#include <utility>
#include <variant>

namespace lifering::net {

bool recently_asked::is_question(const swim::body& content) noexcept {
  return !std::holds_alternative<std::monostate>(content) &&
         !std::holds_alternative<swim::ack>(content) &&
         !std::holds_alternative<swim::nack>(content) &&
         !std::holds_alternative<swim::user_message>(content);
}

void recently_asked::add(const endpoint& to, const swim::body& content, base::time_point now) {
  if (last_.size() < kept_max) last_.emplace_back();
  last_[next_] = {to, now, content};
  latest_ = now;
  next_ = (next_ + 1) % kept_max;
}

/// Most are asked while a cluster forms, and hold parts of views.
void recently_asked::forget_old(base::time_point now) {
  if (last_.empty() || now - latest_ <= base::duration(keep_time)) return;
  last_ = std::vector<asked>();
  next_ = 0;
}

std::optional<swim::body> recently_asked::take(const endpoint& by, base::time_point now) {
  for (std::size_t i = 0; i < last_.size(); ++i) {
    asked& each = last_[(next_ + i) % last_.size()];
    if (!each.content || each.to != by || now - each.at > base::duration(keep_time)) continue;
    return std::exchange(each.content, std::nullopt);
  }
  return std::nullopt;
}

}  // namespace lifering::net
