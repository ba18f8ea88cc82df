// The public face of the cluster: checks what callers give, and waits where they want to wait.
#include <algorithm>
#include <lifering/cluster.hpp>

#include "cluster/core.hpp"
#include "cluster/news_size.hpp"
#include "cluster/text.hpp"
#include "cluster/waiting.hpp"
#include "net/seed.hpp"

namespace lifering {
namespace {

using cluster_detail::bounded;
using cluster_detail::code_of;
using cluster_detail::core;
using cluster_detail::quoted;
using cluster_detail::run;
using cluster_detail::throw_if_failed;
using cluster_detail::too_long;
using cluster_detail::unattended_operation;
using std::chrono::milliseconds;

swim::join_command join_of(std::vector<std::string> seeds, milliseconds timeout) {
  return {{}, std::move(seeds), std::max(bounded(timeout), milliseconds(1))};
}

swim::leave_command leave_of(milliseconds timeout) {
  return {{}, std::max(bounded(timeout), milliseconds(1))};
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

std::error_code publish_service(core& inside, std::string service) {
  swim::update_command change{};
  change.service = std::move(service);
  return publish(inside, std::move(change));
}

/// Whether our record would fit into a datagram if these were in it.
std::optional<problem> check_record(const core& inside, std::string_view service,
                                    std::string_view metadata) {
  options would_be = inside.settings();
  would_be.service = service;
  const auto needed = cluster_detail::news_size(would_be, metadata.size());
  if (needed <= would_be.limits.datagram) return std::nullopt;
  return problem{errc::metadata_too_large,
                 "with metadata of " + std::to_string(metadata.size()) +
                     " bytes and a service address of " + std::to_string(service.size()) +
                     " this member's record takes " + std::to_string(needed) +
                     " bytes; it must fit into a datagram of " +
                     std::to_string(would_be.limits.datagram) + " (limits.datagram)"};
}

std::optional<problem> check_metadata(const core& inside, std::string_view metadata) {
  const auto max = inside.settings().limits.metadata;
  if (metadata.size() > max) {
    auto found = too_long(errc::metadata_too_large, "metadata", metadata.size(), max);
    found.text += " (limits.metadata)";
    return found;
  }
  return check_record(inside, inside.self().service, metadata);
}

std::optional<problem> check_service(const core& inside, std::string_view service) {
  if (service.size() > swim::service_max) {
    return too_long(errc::service_too_long, "service address", service.size(), swim::service_max);
  }
  auto found = check_record(inside, service, inside.self().metadata);
  if (found) found->code = errc::service_too_long;
  return found;
}

std::optional<problem> check_seeds(const std::vector<std::string>& seeds) {
  for (const auto& seed : seeds) {
    if (auto found = validate_seed(seed)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<problem> validate_seed(std::string_view text) {
  if (net::seed::parse(text)) return std::nullopt;
  return problem{errc::invalid_seed, quoted(text) +
                                         " is no seed; HOST:PORT, HOST, [IPV6]:PORT, an address "
                                         "or srv:SERVICE would be right, such as 10.0.0.1:7946"};
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

void cluster::on_message(message_handler handler) {
  core_->set_message_handler(std::move(handler));
}

// --- Starting and stopping ---

std::optional<problem> cluster::try_start(std::string_view towards) {
  return core_->start(towards);
}

void cluster::start(std::string_view towards) {
  throw_if(try_start(towards));
}

void cluster::start(std::error_code& error, std::string_view towards) {
  error = code_of(try_start(towards));
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
  if (core_->may_wait()) return core_->published().wait_for(n, bounded(timeout));
  error = errc::would_deadlock;
  return false;
}

std::vector<member> cluster::graves() const {
  return core_->graves();
}

ring_agreement cluster::agreement() const {
  return core_->take_numbers().agreement;
}

std::vector<metric> cluster::stats() const {
  return cluster_detail::to_metrics(core_->take_numbers());
}

// --- What others are told ---

void cluster::set_metadata(std::string metadata) {
  throw_if(check_metadata(*core_, metadata));
  throw_if_failed(publish_metadata(*core_, std::move(metadata)));
}

void cluster::set_metadata(std::string metadata, std::error_code& error) {
  error = code_of(check_metadata(*core_, metadata));
  if (!error) error = publish_metadata(*core_, std::move(metadata));
}

void cluster::set_service(std::string service) {
  throw_if(check_service(*core_, service));
  throw_if_failed(publish_service(*core_, std::move(service)));
}

void cluster::set_service(std::string service, std::error_code& error) {
  error = code_of(check_service(*core_, service));
  if (!error) error = publish_service(*core_, std::move(service));
}

void cluster::set_weight(lifering::weight value) {
  throw_if_failed(publish_weight(*core_, value));
}

void cluster::set_weight(lifering::weight value, std::error_code& error) {
  error = publish_weight(*core_, value);
}

void cluster::ready() {
  throw_if_failed(core_->set_phase(member_phase::serving));
}

void cluster::ready(std::error_code& error) {
  error = core_->set_phase(member_phase::serving);
}

void cluster::drain() {
  throw_if_failed(core_->set_phase(member_phase::draining));
}

void cluster::drain(std::error_code& error) {
  error = core_->set_phase(member_phase::draining);
}

void cluster::set_health(bool good) {
  throw_if_failed(core_->set_health(good));
}

void cluster::set_health(bool good, std::error_code& error) {
  error = core_->set_health(good);
}

// --- Forgetting ---

void cluster::start_forget(std::string name, operation_ptr done) {
  core_->begin(swim::forget_command{{}, std::move(name)}, std::move(done));
}

void cluster::forget(std::string_view name) {
  auto result = run(*core_, swim::forget_command{{}, std::string(name)}, default_timeout);
  if (result.error == errc::unknown_member) {
    result.why =
        "no failed member that is remembered is called " + quoted(name) + "; graves() lists them";
  }
  throw_if_failed(result);
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
