#include "cluster/dispatcher.hpp"

#include <asio/post.hpp>
#include <exception>
#include <utility>

#include "base/check.hpp"

namespace lifering::cluster_detail {

namespace {

/// What a message takes in the queue.
std::size_t weight_of(std::size_t payload) noexcept {
  constexpr std::size_t around = 128;
  return payload + around;
}

}  // namespace

dispatcher::dispatcher(asio::any_io_executor executor, limits queues, complaint on_throw)
    : strand_(asio::make_strand(std::move(executor))),
      on_throw_(std::move(on_throw)),
      queue_(queues.events),
      message_limit_(queues.message_bytes) {}

void dispatcher::set_handler(handler value) {
  handler_ = std::move(value);
}

void dispatcher::set_message_handler(message_handler value) {
  message_handler_ = std::move(value);
}

void dispatcher::push(std::vector<member_change> members, const std::optional<ring_event>& ring) {
  if (!handler_) return;
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  for (auto& change : members)
    queue_.push(std::move(change));
  if (ring) queue_.push(*ring);
  if (queue_.size() > 0) schedule();
}

void dispatcher::push(message value) {
  const std::lock_guard lock(mutex_);
  if (closed_ || !fits(value.payload.size())) {
    ++counts_.messages_dropped;
    return;
  }
  counts_.message_bytes += weight_of(value.payload.size());
  messages_.push_back(std::move(value));
  schedule();
}

bool dispatcher::has_room(std::size_t payload) const {
  const std::lock_guard lock(mutex_);
  const bool room = !closed_ && fits(payload);
  if (!room) ++counts_.messages_refused;
  return room;
}

/// Under the lock.
bool dispatcher::fits(std::size_t payload) const noexcept {
  return message_handler_ && counts_.message_bytes + weight_of(payload) <= message_limit_;
}

/// Under the lock.
void dispatcher::schedule() {
  if (std::exchange(scheduled_, true)) return;
  asio::post(strand_, [self = shared_from_this()] { self->drain(); });
}

template <class Call>
void dispatcher::run(const Call& call) {
  try {
    call();
  } catch (...) {
    complain(std::current_exception());
  }
  const std::lock_guard lock(mutex_);
  caller_ = {};
  idle_.notify_all();
}

void dispatcher::drain() {
  // A turn of bounded length, for the sake of whatever else the application's executor runs.
  constexpr int calls = 64;
  for (int i = 0; i < calls; ++i) {
    const item value = next();
    if (const auto* heard = std::get_if<message>(&value)) {
      run([&] { message_handler_(*heard); });
    } else if (const auto* happened = std::get_if<event>(&value)) {
      run([&] { handler_(*happened); });
    } else {
      return;
    }
  }
  const std::lock_guard lock(mutex_);
  scheduled_ = false;
  schedule();
}

dispatcher::item dispatcher::next() {
  const std::lock_guard lock(mutex_);
  item result;
  const bool turn_of_messages = std::exchange(message_next_, !message_next_) || queue_.size() == 0;
  if (closed_) {
    messages_.clear();
    counts_.message_bytes = 0;
  } else if (turn_of_messages && !messages_.empty()) {
    counts_.message_bytes -= weight_of(messages_.front().payload.size());
    ++counts_.messages_delivered;
    result = std::move(messages_.front());
    messages_.pop_front();
  } else if (auto value = queue_.pop()) {
    ++counts_.delivered;
    result = std::move(*value);
  }
  if (result.index() == 0) {
    scheduled_ = false;
    return result;
  }
  LIFERING_CHECK(caller_ == std::thread::id{});
  caller_ = std::this_thread::get_id();
  return result;
}

void dispatcher::invoke(std::function<void()> call) {
  asio::post(strand_, [self = shared_from_this(), call = std::move(call)] {
    {
      const std::lock_guard lock(self->mutex_);
      if (self->closed_) return;
      self->caller_ = std::this_thread::get_id();
    }
    self->run(call);
  });
}

void dispatcher::complain(std::exception_ptr thrown) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_.thrown;
  }
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    on_throw_(error.what());
  } catch (...) {
    on_throw_("something that is no std::exception");
  }
}

void dispatcher::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  idle_.notify_all();
  idle_.wait(lock, [this] {
    return caller_ == std::thread::id{} || caller_ == std::this_thread::get_id();
  });
}

void dispatcher::await_idle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] {
    const bool empty = queue_.size() == 0 && messages_.empty();
    return caller_ == std::thread::id{} && (closed_ || empty);
  });
}

dispatcher::counts dispatcher::count() const {
  const std::lock_guard lock(mutex_);
  counts result = counts_;
  result.queued = queue_.size();
  result.merged = queue_.merged();
  return result;
}

}  // namespace lifering::cluster_detail
