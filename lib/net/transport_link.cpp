#include "net/transport_link.hpp"

namespace lifering::net {
namespace {

/// Memory that is kept for the next turn; what a flood took is given back.
constexpr std::size_t kept_max = 65536;

}  // namespace

transport_link::transport_link(io::executor executor, owner& told)
    : executor_(std::move(executor)), told_(&told) {}

void transport_link::datagram_received(const endpoint& from, std::span<const std::uint8_t> bytes) {
  put(from, bytes, false);
}

void transport_link::peer_refused(const endpoint& peer) {
  put(peer, {}, true);
}

void transport_link::put(const endpoint& peer, std::span<const std::uint8_t> bytes,
                         bool is_refusal) {
  const std::lock_guard lock(mutex_);
  if (!executor_) return;
  if (inbox_.footprint() + bytes.size() + sizeof(transport_inbox::item) > inbox_max) {
    ++overflow_;
    return;
  }
  inbox_.items.push_back({peer, bytes.size(), is_refusal});
  inbox_.bytes.insert(inbox_.bytes.end(), bytes.begin(), bytes.end());
  if (std::exchange(is_told_, true)) return;
  asio::post(*executor_, [self = shared_from_this()] {
    if (self->is_open()) self->told_->inbox_filled();
  });
}

void transport_link::stream_accepted(const endpoint& from, std::shared_ptr<transport_stream> made) {
  if (!made) return;
  const std::lock_guard lock(mutex_);
  // Beyond that many it is let go of, which closes it.
  if (!executor_ || accepted_waiting_ == accepted_max) return;
  ++accepted_waiting_;
  asio::post(*executor_, [self = shared_from_this(), from, made = std::move(made)]() mutable {
    {
      const std::lock_guard turn(self->mutex_);
      --self->accepted_waiting_;
    }
    if (self->is_open()) self->told_->accepted(std::move(made), from);
  });
}

bool transport_link::take(transport_inbox& into) {
  if (into.footprint() > kept_max) into = {};
  into.items.clear();
  into.bytes.clear();
  const std::lock_guard lock(mutex_);
  std::swap(into, inbox_);
  is_told_ = !into.items.empty();
  return is_told_;
}

std::size_t transport_link::take_overflow() {
  const std::lock_guard lock(mutex_);
  return std::exchange(overflow_, 0);
}

void transport_link::close() {
  told_ = nullptr;
  const std::lock_guard lock(mutex_);
  executor_.reset();
  inbox_ = {};
}

}  // namespace lifering::net
