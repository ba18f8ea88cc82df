// The inside of a cluster object: the driver with the protocol machine on one side, the
// application's threads on the other.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <condition_variable>
#include <lifering/cluster.hpp>
#include <lifering/error.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "cluster/dispatcher.hpp"
#include "cluster/loop_thread.hpp"
#include "cluster/numbers.hpp"
#include "cluster/publisher.hpp"
#include "cluster/roster.hpp"
#include "net/driver.hpp"
#include "swim/effect.hpp"
#include "swim/input.hpp"

namespace lifering::cluster_detail {

/// Held by shared_ptr: what is under way on the strand keeps it alive until close() has cleaned up.
class core : public std::enable_shared_from_this<core> {
 public:
  using strand = net::driver::strand;

  /// Without an executor it makes threads of its own. Throws if the options aren't valid.
  static std::shared_ptr<core> make(options given, std::optional<asio::any_io_executor> executor);

  core(const core&) = delete;
  core& operator=(const core&) = delete;

  // Any thread.

  const options& settings() const noexcept { return options_; }
  publisher& published() const noexcept { return *publisher_; }
  dispatcher& events() const noexcept { return *dispatcher_; }

  void set_handler(cluster::event_handler handler);
  std::optional<problem> start(std::string_view towards);

  /// Hands a command to the machine; `done` hears of its end. Gives the command its number.
  template <class Command>
  void begin(Command command, std::unique_ptr<operation> done);

  /// Why commands can't be given now, if so.
  std::error_code unavailable() const;

  /// Whether this thread may wait for the strand: not if it runs it.
  bool may_wait() const;

  void stop();

  /// The cluster object is going: stop(), as far as this thread may wait, and from now on nothing
  /// of the application is called but completions.
  void abandon();

  endpoint local_address() const;
  member self() const;
  numbers take_numbers() const;

 private:
  enum class phase { created, running, stopping, stopped };

  core(options given, std::optional<asio::any_io_executor> executor);

  bool has_own_threads() const noexcept { return protocol_thread_.has_value(); }
  asio::any_io_executor protocol_executor() const;
  net::driver_options driver_options(std::string_view towards) const;
  void run(const std::shared_ptr<net::driver>& driver);
  void complain(std::string what);
  bool begin_stop();
  void await_stopped() const;
  void end_threads();

  // On the strand.

  template <class Command>
  void issue(const Command& command, std::unique_ptr<operation> done);
  void cancel(swim::command_id target);
  void on_batch(std::span<const swim::effect> effects);
  void on_change(const swim::member_changed& effect, batch& next);
  void on_completed(const swim::completed& effect, batch& next);
  void log_join(const swim::completed& effect);
  void sync_self();
  batch finished_batch(batch next);
  void refresh();
  void refresh_each_second();
  void close();
  void on_driver_closed();

  const options options_;
  const std::optional<asio::any_io_executor> given_executor_;
  const base::logger log_;  ///< Used on the strand only.

  // The threads outlive everything that refers to their executors.
  std::optional<loop_thread> protocol_thread_;
  std::optional<loop_thread> event_thread_;

  /// Made before the threads start: to prepare a process for the ring's readers is quick only while
  /// it has one thread.
  const std::shared_ptr<publisher> publisher_;
  std::shared_ptr<dispatcher> dispatcher_;
  std::atomic<std::uint64_t> next_command_{1};

  mutable std::mutex mutex_;  ///< Guards what follows.
  mutable std::condition_variable ended_;
  phase phase_ = phase::created;
  std::optional<strand> strand_;
  numbers numbers_;
  member self_;
  endpoint local_address_;

  // On the strand, but for start(), which sets them up before anything runs there.
  std::shared_ptr<net::driver> driver_;
  std::optional<asio::steady_timer> timer_;
  roster roster_;
  struct pending_command {
    std::unique_ptr<operation> done;
    bool is_join;
  };
  std::map<swim::command_id, pending_command> pending_;
};

// Commands are of few types, all of which have an `id`.

template <class Command>
void core::begin(Command command, std::unique_ptr<operation> done) {
  if (const auto error = unavailable()) return done->complete(error, 0, error.message());
  command.id = swim::command_id{next_command_++};
  done->on_cancel([weak = weak_from_this(), id = command.id] {
    const auto self = weak.lock();
    if (self && !self->unavailable()) {
      asio::post(*self->strand_, [self, id] { self->cancel(id); });
    }
  });
  asio::post(*strand_,
             [self = shared_from_this(), command = std::move(command),
              done = std::move(done)]() mutable { self->issue(command, std::move(done)); });
}

template <class Command>
void core::issue(const Command& command, std::unique_ptr<operation> done) {
  if (unavailable()) return done->complete(errc::canceled, 0, "the cluster object was stopped");
  constexpr bool is_join = std::is_same_v<Command, swim::join_command>;
  pending_.emplace(command.id, pending_command{std::move(done), is_join});
  driver_->command(command);
  sync_self();
}

}  // namespace lifering::cluster_detail
