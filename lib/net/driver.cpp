#include "net/driver.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/rng.hpp"
#include "net/advertise.hpp"
#include "net/driver_impl.hpp"
#include "net/name_service.hpp"
#include "wire/vouchers.hpp"

namespace lifering::net {
namespace {

/// Datagrams up to this size are read whatever our own limit is, so that members can be moved to
/// another limit one by one: a jumbo frame.
constexpr std::size_t datagram_read_min = 9216;

address_families families_of(const endpoint& local) {
  if (local.is_v4()) return address_families::v4;
  return local.is_unspecified() ? address_families::both : address_families::v6;
}

}  // namespace

driver::impl::impl(asio::any_io_executor executor, driver_options options, batch_handler on_batch)
    : strand_(std::move(executor)),
      pending_(strand_),
      options_(std::move(options)),
      on_batch_(std::move(on_batch)),
      complain_(options_.log),
      codec_(options_.cluster, options_.keys),
      unopened_(options_.protocol.limits.members),
      timer_(strand_),
      own_name_timer_(strand_) {
  auto& config = options_.protocol;
  const std::size_t around = codec_.overhead() + (options_.keys ? wire::proof_size_max : 0);
  LIFERING_CHECK(config.limits.datagram > around);
  config.datagram_budget = config.limits.datagram - around;
  config.vouching_room = options_.keys ? wire::vouchers_size_max : 0;
}

std::optional<problem> driver::impl::open(std::weak_ptr<void> owner) {
  LIFERING_CHECK(state_ == state::closed);
  if (auto found = open_carrier()) return found;
  const auto hint = seed::parse(options_.seed_hint);
  advertised chosen;
  if (auto found = choose_advertised(strand_, carrier_->local(), options_.advertise,
                                     hint ? hint->address : std::nullopt, chosen)) {
    carrier_.reset();
    return found;
  }
  local_ = carrier_->local();
  advertised_ = chosen.address;
  pending_.keep(std::move(owner));
  make_parts();
  state_ = state::open;
  report_start(chosen.how);
  return std::nullopt;
}

std::optional<problem> driver::impl::open_carrier() {
  carrier::surroundings with{strand_,
                             pending_,
                             count_,
                             *this,
                             [this](std::unique_ptr<connection> made, const endpoint& from) {
                               if (!options_.allow.allows(from)) {
                                 count_disallowed(from);
                               } else {
                                 streams_->accept(std::move(made), from);
                               }
                             },
                             std::max(options_.protocol.limits.datagram, datagram_read_min)};
  if (!options_.carried_by) return open_sockets(options_.bind, std::move(with), carrier_);
  return open_transport(options_.carried_by, options_.bind, std::move(with), carrier_);
}

void driver::impl::make_parts() {
  const auto& config = options_.protocol;
  datagrams_ = &carrier_->datagrams();
  streams_.emplace(strand_,
                   stream_set::settings{config.limits.streams, config.limits.streams_per_source,
                                        config.timing.stream_timeout},
                   *carrier_, pending_, *this, count_);
  const auto families = options_.carried_by ? address_families::both : families_of(local_);
  resolver_.emplace(
      strand_, families, pending_,
      [this](const std::string& seed, std::vector<endpoint> addresses, std::error_code error) {
        seed_resolved(seed, std::move(addresses), error);
      },
      name_service(options_.name_server));
  if (!options_.advertise_host.empty()) {
    own_name_.emplace(
        strand_, families, pending_,
        [this](const std::string&, const std::vector<endpoint>& addresses, std::error_code) {
          own_name_found(addresses);
        },
        name_service(options_.name_server));
  }
  swim::record self = options_.self;
  self.address = advertised_;
  machine_.emplace(config, std::move(self), base::rng(options_.seed), now());
}

void driver::impl::report_start(std::string_view how_advertised) const {
  if (!options_.allow.allows(advertised_)) {
    options_.log(log_level::warning, "our own address " + advertised_.to_string() +
                                         " lies outside of the allowed networks, so members with "
                                         "the same list won't hear us; allow it too, or advertise "
                                         "one inside");
  }
  if (!options_.log.enabled(log_level::info)) return;
  options_.log(log_level::info, "listening on " + local_.to_string() + ", advertised as " +
                                    advertised_.to_string() + " (" + std::string(how_advertised) +
                                    "); by " + carrier_->describe());
}

void driver::impl::start() {
  LIFERING_CHECK(state_ == state::open);
  state_ = state::running;
  carrier_->start();
  arm_timer();
  watch_own_name();
}

void driver::impl::stop(std::function<void()> done) {
  if (state_ == state::open || state_ == state::running) {
    streams_->stop();
    carrier_->close();
    resolver_->close();
    if (own_name_) own_name_->close();
    timer_.cancel();
    own_name_timer_.cancel();
    later_.clear();
    greetings_.clear();
  }
  state_ = state::stopped;
  pending_.when_none(std::move(done));
}

swim::protocol& driver::impl::protocol() noexcept {
  LIFERING_CHECK(machine_.has_value());
  return *machine_;
}

gauges driver::impl::gauges() const {
  net::gauges now;
  if (datagrams_ == nullptr) return now;
  now.streams_open = streams_->size();
  now.stream_bytes_queued = streams_->queued();
  now.datagram_bytes_queued = datagrams_->queued();
  now.lookups_waiting = resolver_->waiting();
  return now;
}

driver::driver(asio::any_io_executor executor, driver_options options, batch_handler on_batch)
    : impl_(std::make_unique<impl>(std::move(executor), std::move(options), std::move(on_batch))) {}
driver::~driver() = default;

const driver::strand& driver::get_strand() const noexcept {
  return impl_->get_strand();
}
std::optional<problem> driver::open() {
  return impl_->open(weak_from_this());
}
void driver::start() {
  impl_->start();
}
void driver::command(const swim::join_command& value) {
  impl_->command(value);
}
void driver::command(const swim::leave_command& value) {
  impl_->command(value);
}
void driver::command(const swim::cancel_command& value) {
  impl_->command(value);
}
void driver::command(const swim::update_command& value) {
  impl_->command(value);
}
void driver::command(const swim::forget_command& value) {
  impl_->command(value);
}
void driver::command(const swim::send_command& value) {
  impl_->command(value);
}
void driver::stop(std::function<void()> done) {
  impl_->stop(std::move(done));
}
endpoint driver::local_address() const {
  return impl_->local_address();
}
endpoint driver::advertised_address() const {
  return impl_->advertised_address();
}
swim::protocol& driver::protocol() noexcept {
  return impl_->protocol();
}
const counters& driver::count() const noexcept {
  return impl_->count();
}
gauges driver::gauges() const {
  return impl_->gauges();
}

}  // namespace lifering::net
