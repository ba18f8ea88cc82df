// Calls the application back: in order, one call at a time, never under a lock.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/strand.hpp>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster/event_queue.hpp"

namespace lifering::cluster_detail {

/// The way from the protocol to the application's event handler. The handler runs on a strand of
/// its own, so that one that is slow or stuck holds up nothing but later events.
///
/// Held by shared_ptr: what is posted keeps it alive. Safe from any thread.
class dispatcher : public std::enable_shared_from_this<dispatcher> {
 public:
  using handler = std::function<void(const event&)>;

  /// What the application's code threw out of a call, in words.
  using complaint = std::function<void(std::string)>;

  dispatcher(asio::any_io_executor executor, std::size_t queue_limit, complaint on_throw);

  /// Replaces the handler. Before the first push().
  void set_handler(handler value);

  /// Queues the events of one batch, the ring's last.
  void push(std::vector<member_change> members, const std::optional<ring_event>& ring);

  /// Ends it: no call begins after this. Waits for one that is under way, unless that is the
  /// caller.
  void close();

  /// Waits until all that was pushed is delivered. Not on the thread that delivers.
  void await_idle();

  /// Where the handler runs, and the application's completions by default.
  asio::any_io_executor executor() const { return strand_; }

  /// Tells of a throw on the application's behalf.
  void complain(std::exception_ptr thrown);

  struct counts {
    std::size_t queued = 0;
    std::uint64_t delivered = 0;
    std::uint64_t merged = 0;
    std::uint64_t thrown = 0;
  };
  counts count() const;

 private:
  void schedule();
  void drain();
  std::optional<event> next();
  void call(const event& value);

  const asio::strand<asio::any_io_executor> strand_;
  const complaint on_throw_;
  handler handler_;

  mutable std::mutex mutex_;
  std::condition_variable idle_;
  event_queue queue_;
  bool scheduled_ = false;
  bool closed_ = false;
  std::thread::id caller_;  ///< The thread that is inside the handler, if any.
  std::uint64_t delivered_ = 0;
  std::uint64_t thrown_ = 0;
};

}  // namespace lifering::cluster_detail
