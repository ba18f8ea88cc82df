#include "swim/broadcast_queue.hpp"

#include <algorithm>

namespace lifering::swim {

void broadcast_queue::put(const broadcast& news) {
  entry added;
  added.news = news;
  added.bytes = size_bound(news);
  bytes_ += added.bytes;
  entries_.push_back(std::move(added));
  ++waiting_;
  ++fresh_;
  ++generation_;
  while (entries_.size() > kept_max || bytes_ > bytes_max)
    forget_oldest();
}

void broadcast_queue::forget_oldest() {
  const entry& oldest = entries_.front();
  bytes_ -= oldest.bytes;
  if (oldest.waits) --waiting_;
  if (oldest.waits && oldest.sent == 0) --fresh_;
  entries_.erase(entries_.begin());
}

void broadcast_queue::take(std::size_t budget, unsigned limit, std::vector<broadcast>& out) {
  if (waiting_ == 0) return;
  order_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].waits) order_.push_back(i);
  }
  std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
    return entries_[a].sent < entries_[b].sent;
  });
  for (const std::size_t index : order_) {
    entry& e = entries_[index];
    if (e.bytes > budget) continue;
    budget -= e.bytes;
    out.push_back(e.news);
    if (e.sent++ == 0) --fresh_;
    if (e.sent >= limit) {
      e.waits = false;
      --waiting_;
    }
  }
}

}  // namespace lifering::swim
