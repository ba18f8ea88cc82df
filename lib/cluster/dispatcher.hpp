// Calls the application back: in order, one call at a time, never under a lock.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/strand.hpp>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "cluster/event_queue.hpp"

namespace lifering::cluster_detail {

/// The way from the protocol to the application's handlers of events and messages. They run on a
/// strand of their own, so that one that is slow or stuck holds up nothing but later calls. Events
/// and messages take turns, so that neither waits for all of the other.
///
/// Held by shared_ptr: what is posted keeps it alive. Safe from any thread.
class dispatcher : public std::enable_shared_from_this<dispatcher> {
 public:
  using handler = std::function<void(const event&)>;
  using message_handler = std::function<void(const message&)>;

  /// What the application's code threw out of a call, in words.
  using complaint = std::function<void(std::string)>;

  struct limits {
    std::size_t events;
    std::size_t message_bytes;
  };

  dispatcher(asio::any_io_executor executor, limits queues, complaint on_throw);

  /// Replace the handlers. Before the first push().
  void set_handler(handler value);
  void set_message_handler(message_handler value);

  /// Queues the events of one batch, the ring's last.
  void push(std::vector<member_change> members, const std::optional<ring_event>& ring);

  /// Queues a message; drops it if there is no room.
  void push(message value);

  /// Whether a message with that many bytes would find room.
  bool has_room(std::size_t payload) const;

  /// Has this called as a handler is, once, after those that wait now. What it throws is the
  /// caller's own affair.
  void invoke(std::function<void()> call);

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
    std::size_t message_bytes = 0;  ///< Waiting.
    std::uint64_t messages_delivered = 0;
    std::uint64_t messages_dropped = 0;
    std::uint64_t messages_refused = 0;
  };
  counts count() const;

 private:
  using item = std::variant<std::monostate, event, message>;

  void schedule();
  void drain();
  item next();
  template <class Call>
  void run(const Call& call);
  bool fits(std::size_t payload) const noexcept;

  const asio::strand<asio::any_io_executor> strand_;
  const complaint on_throw_;
  handler handler_;
  message_handler message_handler_;

  mutable std::mutex mutex_;
  std::condition_variable idle_;
  event_queue queue_;
  std::list<message> messages_;
  const std::size_t message_limit_;
  bool message_next_ = false;  ///< Whose turn it is.
  bool scheduled_ = false;
  bool closed_ = false;
  std::thread::id caller_;  ///< The thread that is inside the handler, if any.
  mutable counts counts_;   ///< Those that aren't kept elsewhere.
};

}  // namespace lifering::cluster_detail
