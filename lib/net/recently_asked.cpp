#include "net/recently_asked.hpp"

#include <algorithm>
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
  if (last_.size() == kept_max) last_.pop_front();
  last_.push_back({to, now, content});
}

/// Most are asked while a cluster forms, and hold parts of views.
void recently_asked::forget_old(base::time_point now) {
  while (!last_.empty() && now - last_.front().at > base::duration(keep_time))
    last_.pop_front();
}

std::optional<swim::body> recently_asked::take(const endpoint& by, base::time_point now) {
  forget_old(now);
  const auto found = std::ranges::find(last_, by, &asked::to);
  if (found == last_.end()) return std::nullopt;
  std::optional<swim::body> content(std::move(found->content));
  last_.erase(found);
  return content;
}

}  // namespace lifering::net
