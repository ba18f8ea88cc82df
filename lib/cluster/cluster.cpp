// The public face of the cluster: checks what callers give, and waits where they want to wait.
#include <algorithm>
#include <future>
#include <lifering/cluster.hpp>

#include "cluster/core.hpp"
#include "cluster/news_size.hpp"
#include "cluster/text.hpp"
#include "net/seed.hpp"

namespace lifering {
namespace {

using cluster_detail::core;
using cluster_detail::operation;
using cluster_detail::quoted;
using std::chrono::milliseconds;

struct outcome {
  std::error_code error;
  std::size_t count = 0;
  std::string why;
};

/// An operation that a thread waits for.
class waited_operation final : public operation {
 public:
  std::future<outcome> result() { return promise_.get_future(); }
  void complete(std::error_code error, std::size_t count, const std::string& why) override {
    promise_.set_value({error, count, why});
  }
  void on_cancel(std::function<void()>) override {}

 private:
  std::promise<outcome> promise_;
};

/// An operation whose end nobody waits for.
class unattended_operation final : public operation {
 public:
  void complete(std::error_code, std::size_t, const std::string&) override {}
  void on_cancel(std::function<void()>) override {}
};

/// Begins a command and waits for its end. The machine keeps the deadline; ours is later, for when
/// nobody runs the executor.
template <class Command>
outcome run(core& inside, Command command, milliseconds timeout) {
  auto error = inside.unavailable();
  if (!error && !inside.may_wait()) error = errc::would_deadlock;
  if (error) return {error, 0, ""};
  auto waited = std::make_unique<waited_operation>();
  auto result = waited->result();
  inside.begin(std::move(command), std::move(waited));
  constexpr milliseconds grace{2000};
  if (result.wait_for(timeout + grace) != std::future_status::ready) {
    return {errc::timed_out, 0, "nothing runs the executor of the cluster object"};
  }
  try {
    return result.get();
  } catch (const std::future_error&) {  // What should have ended it was destroyed.
    return {errc::canceled, 0, "the executor of the cluster object has ended"};
  }
}

swim::join_command join_of(std::vector<std::string> seeds, milliseconds timeout) {
  return {{}, std::move(seeds), std::max(timeout, milliseconds(1))};
}

swim::leave_command leave_of(milliseconds timeout) {
  return {{}, std::max(timeout, milliseconds(1))};
}

/// Begins a change of our record.
std::error_code publish(core& inside, swim::update_command change) {
  const auto error = inside.unavailable();
  if (!error) inside.begin(std::move(change), std::make_unique<unattended_operation>());
  return error;
}

std::error_code publish_metadata(core& inside, std::string metadata) {
  swim::update_command change{};
  change.metadata = std::move(metadata);
  return publish(inside, std::move(change));
}

std::error_code publish_weight(core& inside, weight value) {
  swim::update_command change{};
  change.weight = value;
  return publish(inside, std::move(change));
}

std::error_code publish_phase(core& inside, member_phase value) {
  swim::update_command change{};
  change.phase = value;
  return publish(inside, std::move(change));
}

std::optional<problem> check_metadata(const options& given, const std::string& metadata) {
  if (metadata.size() > given.limits.metadata) {
    return problem{errc::metadata_too_large,
                   "the metadata has " + std::to_string(metadata.size()) + " bytes; at most " +
                       std::to_string(given.limits.metadata) + " would do (limits.metadata)"};
  }
  const auto needed = cluster_detail::news_size(given, metadata.size());
  if (needed > given.limits.datagram) {
    return problem{errc::metadata_too_large,
                   "with metadata of " + std::to_string(metadata.size()) +
                       " bytes this member's record takes " + std::to_string(needed) +
                       " bytes; it must fit into a datagram of " +
                       std::to_string(given.limits.datagram) + " (limits.datagram)"};
  }
  return std::nullopt;
}

std::optional<problem> check_seeds(const std::vector<std::string>& seeds) {
  for (const auto& seed : seeds) {
    if (auto found = validate_seed(seed)) return found;
  }
  return std::nullopt;
}

void throw_if_failed(std::error_code error) {
  if (error) throw std::system_error(error);
}

void throw_if_failed(const outcome& result) {
  if (!result.error) return;
  if (result.why.empty()) throw std::system_error(result.error);
  throw std::system_error(result.error, result.why);
}

}  // namespace

std::optional<problem> validate_seed(std::string_view text) {
  if (net::seed::parse(text)) return std::nullopt;
  return problem{errc::invalid_seed, quoted(text) +
                                         " is no seed; HOST:PORT, HOST, [IPV6]:PORT or an address "
                                         "would be right, such as 10.0.0.1:7946"};
}

cluster::cluster(lifering::options options) : core_(core::make(std::move(options), {})) {}
cluster::cluster(asio::any_io_executor executor, lifering::options options)
    : core_(core::make(std::move(options), std::move(executor))) {}
cluster::~cluster() {
  core_->abandon();
}

void cluster::on_event(event_handler handler) {
  core_->set_handler(std::move(handler));
}

// --- Starting and stopping ---

std::optional<problem> cluster::try_start(std::string_view towards) {
  return core_->start(towards);
}

void cluster::start(std::string_view towards) {
  throw_if(try_start(towards));
}

void cluster::start(std::error_code& error, std::string_view towards) {
  const auto found = try_start(towards);
  error = found ? make_error_code(found->code) : std::error_code();
}

void cluster::stop() {
  core_->stop();
}

// --- Joining and leaving ---

std::size_t cluster::join(std::vector<std::string> seeds, milliseconds timeout) {
  throw_if(check_seeds(seeds));
  const auto result = run(*core_, join_of(std::move(seeds), timeout), timeout);
  throw_if_failed(result);
  return result.count;
}

std::size_t cluster::join(std::vector<std::string> seeds, std::error_code& error,
                          milliseconds timeout) {
  if (const auto found = check_seeds(seeds)) {
    error = found->code;
    return 0;
  }
  const auto result = run(*core_, join_of(std::move(seeds), timeout), timeout);
  error = result.error;
  return result.count;
}

void cluster::start_join(std::vector<std::string> seeds, milliseconds timeout, operation_ptr done) {
  if (const auto found = check_seeds(seeds)) return done->complete(found->code, 0, found->text);
  core_->begin(join_of(std::move(seeds), timeout), std::move(done));
}

std::size_t cluster::leave(milliseconds timeout) {
  const auto result = run(*core_, leave_of(timeout), timeout);
  throw_if_failed(result);
  return result.count;
}

std::size_t cluster::leave(std::error_code& error, milliseconds timeout) {
  const auto result = run(*core_, leave_of(timeout), timeout);
  error = result.error;
  return result.count;
}

void cluster::start_leave(milliseconds timeout, operation_ptr done) {
  core_->begin(leave_of(timeout), std::move(done));
}

// --- What is known ---

ring_view cluster::ring() const noexcept {
  return core_->published().ring();
}

member_list cluster::members() const {
  return core_->published().members();
}

std::optional<member> cluster::find(std::string_view name) const {
  const auto all = members();
  const member* found = all.find(name);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

member cluster::self() const {
  return core_->self();
}

std::optional<member> cluster::owner(std::string_view key) const {
  return core_->published().owner(key);
}

std::vector<member> cluster::owners(std::string_view key, std::size_t n) const {
  return core_->published().owners(key, n);
}

bool cluster::owns(std::string_view key) const noexcept {
  return core_->published().ring().owns(core_->settings().name, key);
}

bool cluster::wait_for(std::size_t n, milliseconds timeout) const {
  std::error_code error;
  const bool there = wait_for(n, timeout, error);
  if (error) throw std::system_error(error);
  return there;
}

bool cluster::wait_for(std::size_t n, milliseconds timeout, std::error_code& error) const {
  error.clear();
  if (core_->may_wait()) return core_->published().wait_for(n, timeout);
  error = errc::would_deadlock;
  return false;
}

ring_agreement cluster::agreement() const {
  return core_->take_numbers().agreement;
}

std::vector<metric> cluster::stats() const {
  return cluster_detail::to_metrics(core_->take_numbers());
}

// --- What others are told ---

void cluster::set_metadata(std::string metadata) {
  throw_if(check_metadata(core_->settings(), metadata));
  throw_if_failed(publish_metadata(*core_, std::move(metadata)));
}

void cluster::set_metadata(std::string metadata, std::error_code& error) {
  const auto found = check_metadata(core_->settings(), metadata);
  error = found ? make_error_code(found->code) : publish_metadata(*core_, std::move(metadata));
}

void cluster::set_weight(lifering::weight value) {
  throw_if_failed(publish_weight(*core_, value));
}

void cluster::set_weight(lifering::weight value, std::error_code& error) {
  error = publish_weight(*core_, value);
}

void cluster::ready() {
  throw_if_failed(publish_phase(*core_, member_phase::serving));
}

void cluster::ready(std::error_code& error) {
  error = publish_phase(*core_, member_phase::serving);
}

void cluster::drain() {
  throw_if_failed(publish_phase(*core_, member_phase::draining));
}

void cluster::drain(std::error_code& error) {
  error = publish_phase(*core_, member_phase::draining);
}

void cluster::forget(std::string_view name) {
  throw_if_failed(run(*core_, swim::forget_command{{}, std::string(name)}, default_timeout));
}

void cluster::forget(std::string_view name, std::error_code& error) {
  error = run(*core_, swim::forget_command{{}, std::string(name)}, default_timeout).error;
}

// --- The rest ---

asio::any_io_executor cluster::get_executor() const noexcept {
  return core_->events().executor();
}

endpoint cluster::local_address() const {
  return core_->local_address();
}

}  // namespace lifering
