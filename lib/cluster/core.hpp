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

#include "base/limited_log.hpp"
#include "base/log.hpp"
#include "cluster/dispatcher.hpp"
#include "cluster/health.hpp"
#include "cluster/loop_thread.hpp"
#include "cluster/numbers.hpp"
#include "cluster/publisher.hpp"
#include "cluster/roster.hpp"
#include "net/driver.hpp"
#include "swim/effect.hpp"
#include "swim/input.hpp"
#include "swim/message.hpp"

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
  void set_message_handler(cluster::message_handler handler);
  std::optional<problem> start(std::string_view towards);

  /// Hands a command to the machine; `done` hears of its end. Gives the command its number.
  template <class Command>
  void begin(Command command, std::unique_ptr<operation> done);

  /// What the application wants, and how it fares; from both follows the phase that others see.
  std::error_code set_phase(member_phase wanted);
  std::error_code set_health(bool good);

  /// How long payloads may be. After start().
  std::size_t direct_payload_max() const noexcept { return direct_payload_max_; }
  std::size_t broadcast_payload_max() const noexcept { return broadcast_payload_max_; }

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
  std::vector<member> graves() const;

  /// Whether the machine holds another member of that name present, and we are one ourselves. Not
  /// behind it, as the published list may be.
  std::error_code may_send_to(std::string_view name) const;
  std::error_code may_broadcast() const;

 private:
  enum class phase { created, running, stopping, stopped };

  core(options given, std::optional<asio::any_io_executor> executor);

  bool has_own_threads() const noexcept { return protocol_thread_.has_value(); }
  asio::any_io_executor protocol_executor() const;
  net::driver_options driver_options(std::string_view towards) const;
  void run(std::shared_ptr<net::driver> driver);
  void complain(std::string what);
  bool begin_stop();
  void await_stopped();
  void end_threads();

  // On the strand.

  template <class Command>
  void issue(const Command& command, std::unique_ptr<operation> done);
  void cancel(swim::command_id target);
  void on_batch(std::span<const swim::effect> effects);
  void on_change(const swim::member_changed& effect, batch& next);
  void on_completed(const swim::completed& effect, batch& next);
  void log_join(const swim::completed& effect, bool has_seeds);
  void sync_self();
  batch finished_batch(batch next);
  void refresh();
  void refresh_graves();
  void refresh_each_second();

  ring_pace make_pace();
  void sync_phase();
  void hear_health(bool good);
  void advance_health();
  void check_health_after(std::chrono::milliseconds pause);
  void begin_check();
  void end_check(bool good);

  void close();
  void on_driver_closed();
  void on_publisher_closed();

  const options options_;
  const std::optional<asio::any_io_executor> given_executor_;
  const base::logger log_;  ///< Used on the strand only, as is what follows.
  enum class complaint : std::uint8_t { callback_threw, count_ };
  base::limited_log<complaint> complain_;

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
  std::vector<swim::view_row> graves_;
  member_list latest_;  ///< Published or soon to be.
  member self_;
  endpoint local_address_;

  // On the strand, but for start(), which sets them up before anything runs there.
  std::shared_ptr<net::driver> driver_;
  std::size_t direct_payload_max_ = 0;
  std::size_t broadcast_payload_max_ = 0;
  struct timers {
    explicit timers(const strand& on) : refresh(on), ring(on), health(on), check(on) {}
    asio::steady_timer refresh;
    asio::steady_timer ring;
    asio::steady_timer health;
    asio::steady_timer check;
  };
  std::optional<timers> timers_;
  roster roster_;
  member_phase wanted_phase_;
  health_rule health_;
  std::uint64_t check_turn_ = 0;  ///< Begins and ends of checks.
  enum class command_kind { join, send, other };
  struct pending_command {
    std::unique_ptr<operation> done;
    command_kind kind;
    bool has_seeds;  ///< Of a join.
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
  constexpr auto kind = std::is_same_v<Command, swim::join_command>   ? command_kind::join
                        : std::is_same_v<Command, swim::send_command> ? command_kind::send
                                                                      : command_kind::other;
  bool has_seeds = false;
  if constexpr (kind == command_kind::join) has_seeds = !command.seeds.empty();
  pending_.emplace(command.id, pending_command{std::move(done), kind, has_seeds});
  if (kind == command_kind::join) publisher_->expect_more();
  driver_->command(command);
  sync_self();
}

}  // namespace lifering::cluster_detail
