#include "cluster/dispatcher.hpp"

#include <asio/post.hpp>
#include <exception>
#include <utility>

#include "base/check.hpp"

namespace lifering::cluster_detail {

dispatcher::dispatcher(asio::any_io_executor executor, std::size_t queue_limit, complaint on_throw)
    : strand_(asio::make_strand(std::move(executor))),
      on_throw_(std::move(on_throw)),
      queue_(queue_limit) {}

void dispatcher::set_handler(handler value) {
  handler_ = std::move(value);
}

void dispatcher::push(std::vector<member_change> members, const std::optional<ring_event>& ring) {
  if (!handler_) return;
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  for (auto& change : members)
    queue_.push(std::move(change));
  if (ring) queue_.push(*ring);
  if (queue_.size() > 0 && !scheduled_) {
    scheduled_ = true;
    schedule();
  }
}

void dispatcher::schedule() {
  asio::post(strand_, [self = shared_from_this()] { self->drain(); });
}

void dispatcher::drain() {
  // A turn of bounded length, for the sake of whatever else the application's executor runs.
  constexpr int turn = 64;
  for (int i = 0; i < turn; ++i) {
    const auto value = next();
    if (!value) return;
    call(*value);
  }
  schedule();
}

std::optional<event> dispatcher::next() {
  const std::lock_guard lock(mutex_);
  auto value = closed_ ? std::nullopt : queue_.pop();
  if (!value) {
    scheduled_ = false;
    return std::nullopt;
  }
  LIFERING_CHECK(caller_ == std::thread::id{});
  caller_ = std::this_thread::get_id();
  ++delivered_;
  return value;
}

void dispatcher::call(const event& value) {
  try {
    handler_(value);
  } catch (...) {
    complain(std::current_exception());
  }
  const std::lock_guard lock(mutex_);
  caller_ = {};
  idle_.notify_all();
}

void dispatcher::complain(std::exception_ptr thrown) {
  {
    const std::lock_guard lock(mutex_);
    ++thrown_;
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
  idle_.wait(lock,
             [this] { return caller_ == std::thread::id{} && (closed_ || queue_.size() == 0); });
}

dispatcher::counts dispatcher::count() const {
  const std::lock_guard lock(mutex_);
  return {queue_.size(), delivered_, queue_.merged(), thrown_};
}

}  // namespace lifering::cluster_detail
