// The life of a cluster object: made, started, stopped.
#include "cluster/core.hpp"

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#include <random>
#include <utility>

#include "base/check.hpp"
#include "cluster/steady.hpp"
#include "net/advertise.hpp"
#include "net/allow_list.hpp"
#include "net/seed.hpp"
#include "swim/record.hpp"
#include "wire/public_keyring.hpp"

namespace lifering::cluster_detail {
namespace {

constexpr std::uint16_t dns_port = 53;

using io_executor = asio::io_context::executor_type;

/// Whether this thread is inside of the executor's run(). Executors of other kinds than Asio's own
/// can't be asked; for them only the strands tell.
bool runs_on_this_thread(const asio::any_io_executor& executor) {
  if (const auto* io = executor.target<io_executor>()) return io->running_in_this_thread();
  if (const auto* pool = executor.target<asio::thread_pool::executor_type>()) {
    return pool->running_in_this_thread();
  }
  if (const auto* inner = executor.target<asio::strand<io_executor>>()) {
    return inner->get_inner_executor().running_in_this_thread();
  }
  if (const auto* inner = executor.target<asio::strand<asio::any_io_executor>>()) {
    return inner->running_in_this_thread() || runs_on_this_thread(inner->get_inner_executor());
  }
  return false;
}

/// Whether nobody will run this executor any more until it is restarted.
bool has_run_out(const asio::any_io_executor& executor) {
  const auto* io = executor.target<io_executor>();
  return io != nullptr && io->context().stopped();
}

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

base::logger make_logger(const options& given) {
  return {given.log ? given.log : base::stderr_sink(given.name), given.level};
}

}  // namespace

core::core(options given, std::optional<asio::any_io_executor> executor)
    : options_(std::move(given)),
      given_executor_(std::move(executor)),
      log_(make_logger(options_)),
      complain_(log_),
      publisher_(std::make_shared<publisher>(options_.placement)),
      wanted_phase_(options_.phase),
      health_(options_.health) {
  self_.name = options_.name;
  self_.phase = options_.phase;
  self_.address = endpoint::parse(options_.bind, net::default_port).value_or(endpoint{});
  self_.service = options_.service;
  self_.weight = options_.weight;
  self_.zone = options_.zone;
  self_.metadata = options_.metadata;
}

std::shared_ptr<core> core::make(options given, std::optional<asio::any_io_executor> executor) {
  throw_if(given.validate());
  const std::shared_ptr<core> made(new core(std::move(given), std::move(executor)));
  const std::weak_ptr<core> weak = made;
  if (!made->given_executor_) {
    made->protocol_thread_.emplace("lifering");
    // Completions run on this thread as event handlers do, and may throw as those may.
    made->event_thread_.emplace("lifering-events", [weak](std::exception_ptr thrown) {
      if (const auto self = weak.lock()) self->dispatcher_->complain(std::move(thrown));
    });
  }
  made->dispatcher_ = std::make_shared<dispatcher>(
      made->given_executor_ ? *made->given_executor_ : made->event_thread_->executor(),
      dispatcher::limits{made->options_.limits.event_queue, made->options_.limits.message_queue},
      [weak](std::string what) {
        if (const auto self = weak.lock()) self->complain(std::move(what));
      });
  return made;
}

asio::any_io_executor core::protocol_executor() const {
  return given_executor_ ? *given_executor_ : protocol_thread_->executor();
}

void core::complain(std::string what) {
  const std::lock_guard lock(mutex_);
  if (phase_ != phase::running) return;
  asio::post(*strand_, [self = shared_from_this(), what = std::move(what)] {
    self->complain_(complaint::callback_threw, log_level::error, steady_now(),
                    [&] { return "A callback of the application threw: " + what; });
  });
}

// --- Starting ---

void core::set_handler(cluster::event_handler handler) {
  const std::lock_guard lock(mutex_);
  if (phase_ == phase::created) dispatcher_->set_handler(std::move(handler));
}

void core::set_message_handler(cluster::message_handler handler) {
  const std::lock_guard lock(mutex_);
  if (phase_ == phase::created) dispatcher_->set_message_handler(std::move(handler));
}

net::driver_options core::driver_options(std::string_view towards) const {
  net::driver_options result;
  result.cluster = options_.cluster;
  result.bind = *endpoint::parse(options_.bind, net::default_port);
  if (!options_.name_server.empty()) {
    result.name_server = endpoint::parse(options_.name_server, dns_port);
  }
  result.carried_by = options_.transport;
  result.seed_hint = towards;
  if (options_.keys) result.keys = keyring_access::inside(*options_.keys);
  LIFERING_CHECK(!net::allow_list::read(options_.allow, result.allow));
  result.protocol.timing = options_.protocol;
  result.protocol.limits = options_.limits;
  result.protocol.placement = options_.placement.id();
  result.protocol.take_all_when_isolated = options_.take_all_when_isolated;
  result.protocol.has_room = [events = dispatcher_](std::size_t payload) {
    return events->has_room(payload);
  };
  result.self.name = options_.name;
  result.self.weight = options_.weight;
  result.self.phase = options_.phase;
  result.self.zone = options_.zone;
  result.self.service = options_.service;
  result.self.metadata = options_.metadata;
  result.seed = random_seed();
  result.log = log_;
  return result;
}

std::optional<problem> core::start(std::string_view towards) {
  if (const auto error = unavailable(); error != errc::not_started) {
    const errc code = error ? errc::stopped : errc::already_started;
    return problem{code, make_error_code(code).message()};
  }
  auto settings = driver_options(towards);
  if (const auto given = net::advertise_text::parse(options_.advertise)) {
    endpoint address;
    const net::name_service names(settings.name_server);
    if (auto found = net::find_advertised(*given, settings.bind, names, address)) return found;
    settings.advertise = address;
    settings.advertise_host = given->host;
  }
  auto driver = std::make_shared<net::driver>(
      protocol_executor(), std::move(settings),
      [weak = weak_from_this()](std::span<const swim::effect> effects) {
        if (const auto self = weak.lock()) self->on_batch(effects);
      });
  if (auto found = driver->open()) return found;
  run(std::move(driver));
  return std::nullopt;
}

/// Before anything runs on the strand. Takes the driver over: the first event's handler may destroy
/// the cluster object, with its threads, before this thread is back from start().
void core::run(std::shared_ptr<net::driver> driver) {
  const std::lock_guard lock(mutex_);
  driver_ = std::move(driver);
  strand_ = driver_->get_strand();
  local_address_ = driver_->local_address();
  timers_.emplace(*strand_);
  direct_payload_max_ = driver_->protocol().direct_payload_max();
  broadcast_payload_max_ = driver_->protocol().broadcast_payload_max();
  publisher_->bind(
      *strand_, dispatcher_,
      [weak = std::weak_ptr(driver_)](std::uint64_t fingerprint) {
        if (const auto held = weak.lock()) held->protocol().set_ring_fingerprint(fingerprint);
      },
      make_pace(), log_);
  const auto& self = driver_->protocol().self();
  self_ = *self;
  roster_.apply(self);
  batch first;
  first.members = roster_.publish();
  first.ring_changes = roster_.take_ring_changes();
  first.urgent = true;
  publisher_->submit_now(std::move(first));
  phase_ = phase::running;
  asio::post(*strand_, [self = shared_from_this()] {
    if (self->unavailable()) return;
    self->driver_->start();
    self->refresh_each_second();
    if (self->options_.health.check) self->check_health_after({});
  });
}

// --- Stopping ---

std::error_code core::unavailable() const {
  const std::lock_guard lock(mutex_);
  switch (phase_) {
    case phase::created:
      return errc::not_started;
    case phase::running:
      return {};
    default:
      return errc::stopped;
  }
}

bool core::may_wait() const {
  // User code never runs on the own protocol thread, which nothing else is waited for.
  if (has_own_threads()) return !protocol_thread_->is_this_thread();
  return !runs_on_this_thread(*given_executor_);
}

/// True if there is something to wait for.
bool core::begin_stop() {
  const std::lock_guard lock(mutex_);
  if (phase_ == phase::created) phase_ = phase::stopped;
  if (phase_ == phase::running) {
    phase_ = phase::stopping;
    asio::post(*strand_, [self = shared_from_this()] { self->close(); });
  }
  return phase_ == phase::stopping;
}

void core::await_stopped() {
  constexpr std::chrono::milliseconds look{100};
  constexpr int idle_looks_max = 20;
  const auto turns = std::make_shared<std::atomic<int>>(0);
  int seen = -1;
  for (int idle_looks = 0;; ++idle_looks) {
    if (turns->load() != seen) {
      idle_looks = 0;
      seen = turns->load();
      asio::post(*strand_, [turns] { ++*turns; });
    }
    std::unique_lock lock(mutex_);
    if (ended_.wait_for(lock, look, [this] { return phase_ == phase::stopped; })) return;
    // An executor that nobody runs won't bring us any further; what is pending ends with it.
    if (!given_executor_) continue;
    if (idle_looks >= idle_looks_max || has_run_out(*given_executor_)) return;
  }
}

void core::stop() {
  const bool pending = begin_stop();
  if (!may_wait()) return;
  if (pending) await_stopped();
  if (has_own_threads() && !event_thread_->is_this_thread()) dispatcher_->await_idle();
}

void core::abandon() {
  dispatcher_->close();
  if (has_own_threads()) {
    stop();
    end_threads();
  } else {
    begin_stop();  // Nobody may be running the executor, now or ever again.
  }
  publisher_->disconnect();
}

/// On the events thread nothing can wait for that thread: the last owner of this object ends it.
void core::end_threads() {
  if (event_thread_->is_this_thread()) return;
  protocol_thread_->finish();
  event_thread_->finish();
}

void core::close() {
  for (auto* timer : {&timers_->refresh, &timers_->ring, &timers_->health, &timers_->check})
    timer->cancel();
  driver_->stop([self = shared_from_this()] { self->on_driver_closed(); });
}

void core::on_driver_closed() {
  publisher_->close([self = shared_from_this()] { self->on_publisher_closed(); });
}

void core::on_publisher_closed() {
  for (const auto& [id, command] : std::exchange(pending_, {})) {
    command.done->complete(errc::canceled, 0, "the cluster object was stopped");
  }
  refresh();
  // Whatever the builder's thread has posted comes before this.
  asio::post(*strand_, [self = shared_from_this()] {
    self->publisher_->disconnect();
    const std::lock_guard lock(self->mutex_);
    self->phase_ = phase::stopped;
    self->ended_.notify_all();
  });
}

// --- Asking ---

endpoint core::local_address() const {
  const std::lock_guard lock(mutex_);
  return local_address_;
}

std::error_code core::may_broadcast() const {
  if (const auto error = unavailable()) return error;
  const std::lock_guard lock(mutex_);
  return self_.present() ? std::error_code() : errc::stopped;
}

std::error_code core::may_send_to(std::string_view name) const {
  if (const auto error = may_broadcast()) return error;
  const std::lock_guard lock(mutex_);
  const bool there = name != options_.name && latest_.find(name) != nullptr;
  return there ? std::error_code() : errc::unknown_member;
}

std::vector<member> core::graves() const {
  std::vector<swim::view_row> rows;
  {
    const std::lock_guard lock(mutex_);
    rows = graves_;
  }
  std::vector<member> result;
  result.reserve(rows.size());
  for (const auto& row : rows)
    result.push_back(*swim::to_member(row.subject, row.incarnation, row.state));
  std::sort(result.begin(), result.end(),
            [](const member& a, const member& b) { return a.name < b.name; });
  return result;
}

member core::self() const {
  const std::lock_guard lock(mutex_);
  return self_;
}

}  // namespace lifering::cluster_detail
