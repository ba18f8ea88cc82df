// From the network and the clock to the machine.
#include <algorithm>
#include <asio/post.hpp>
#include <chrono>
#include <lifering/error.hpp>
#include <utility>

#include "base/check.hpp"
#include "net/driver_impl.hpp"

namespace lifering::net {
namespace {

/// A timer that expires with so much delay was held up, by work of ours or by others' on our cores.
constexpr base::duration late = std::chrono::milliseconds(2);

/// A timer moves back where that saves a wake; to move it with each packet's deadlines costs more
/// than an early wake does.
constexpr base::duration worth_moving = std::chrono::milliseconds(10);

/// What an input brings about may bring about the next one: a send that fails, whose evidence sends
/// again. After so many rounds the rest waits for its turn on the strand, so that others have
/// theirs.
constexpr int rounds_per_turn = 8;

std::error_code as_stream_error(wire::decode_error error) {
  switch (error) {
    case wire::decode_error::wrong_cluster:
      return errc::wrong_cluster;
    case wire::decode_error::wrong_version:
      return errc::wrong_version;
    case wire::decode_error::not_sealed:
    case wire::decode_error::cannot_open:
      return errc::wrong_key;
    default:
      return std::make_error_code(std::errc::bad_message);
  }
}

}  // namespace

base::time_point driver::impl::now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return base::time_point(std::chrono::duration_cast<base::duration>(since));
}

bool driver::impl::enter() {
  LIFERING_CHECK(!effects_);
  if (state_ == state::running) effects_.emplace();
  return effects_.has_value();
}

void driver::impl::settle() {
  if (effects_ || state_ != state::running) return;
  datagrams_->flush();
  for (int round = 0; round < rounds_per_turn && !later_.empty(); ++round) {
    const auto inputs = std::exchange(later_, {});
    for (const auto& each : inputs) {
      std::visit([this](const auto& input) { apply(input); }, each);
    }
    if (state_ != state::running) return;
    datagrams_->flush();
  }
  if (!later_.empty()) settle_later();
  arm_timer();
}

void driver::impl::settle_later() {
  if (std::exchange(will_settle_, true)) return;
  asio::post(strand_, [this, token = pending_.begin()] {
    will_settle_ = false;
    settle();
  });
}

void driver::impl::arm_timer() {
  const auto due = machine_->next_deadline();
  if (due >= armed_for_ && due - armed_for_ < worth_moving) return;
  armed_for_ = due;
  timer_.expires_at(std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(due.time_since_epoch())));
  timer_.async_wait([this, token = pending_.begin()](std::error_code error) {
    if (!error) timer_expired();
  });
}

void driver::impl::timer_expired() {
  const auto due = std::exchange(armed_for_, base::never);
  if (state_ == state::running && now() - due >= late) {
    // Where we run late, answers may have come in time and wait in the socket: they go first.
    datagrams_->receive_pending();
  }
  const auto time = now();
  if (state_ == state::running && time >= machine_->next_deadline() && enter()) {
    machine_->advance(time, **effects_);
    carry_out();
  }
  settle();
}

void driver::impl::datagram_received(const endpoint& from, std::span<const std::uint8_t> bytes) {
  if (!options_.allow.allows(from)) return count_disallowed(from);
  const base::scratch<swim::packet> packet;
  incoming_ = &*packet;
  take_datagram(from, bytes);
  incoming_ = nullptr;
}

void driver::impl::take_datagram(const endpoint& from, std::span<const std::uint8_t> bytes) {
  const auto error = codec_.decode(bytes, *incoming_);
  if (error == wire::decode_error::cannot_open) unopened_.unopened(from);
  if (error != wire::decode_error::none) return count_dropped(error, &from);
  if (!may_change_things(from, bytes.size())) return;
  (from.is_v4() ? heard_v4_ : heard_v6_) = now();
  leave_out_disallowed(*incoming_);
  const bool is_proven = codec_.last_receipt().proven;
  const bool is_trusted = is_proven || is_member_at(incoming_->from.name, from);
  question_ = question{from, is_trusted, bytes.size()};
  apply(swim::packet_received{from, *incoming_, is_proven});
  question_.reset();
}

bool driver::impl::is_member_at(std::string_view name, const endpoint& address) const {
  swim::view_row row;
  return machine_->find_member(name, row) && row.subject->address == address;
}

/// Whoever lies outside of the allowed networks is no member, whoever speaks of him.
void driver::impl::leave_out_disallowed(swim::packet& from) {
  if (options_.allow.allows_all()) return;
  const auto is_outside = [this](const auto& each) {
    return each.subject && !options_.allow.allows(each.subject->address);
  };
  std::size_t left_out = std::erase_if(from.updates, is_outside);
  if (auto* view = std::get_if<swim::view_rows>(&from.body)) {
    left_out += std::erase_if(view->rows, is_outside);
  } else if (auto* delta = std::get_if<swim::view_delta>(&from.body)) {
    left_out += std::erase_if(delta->rows, is_outside);
  }
  count_.dropped_not_allowed += left_out;
}

void driver::impl::apply(const presumed_ack& input) {
  ++count_.presumed_acks;
  swim::packet made;
  made.from.name = input.to.target;  // It speaks of no view.
  made.from.epoch = input.to.target_epoch;
  made.from.placement = options_.protocol.placement;
  made.body = swim::ack{input.to.sequence};
  apply(swim::packet_received{input.from, made});
}

void driver::impl::datagram_refused(const endpoint& peer) {
  later_.emplace_back(swim::peer_refused{peer});
}

void driver::impl::datagram_failed(const endpoint& to, std::error_code error) {
  complain_(complaint::cannot_send, log_level::warning, now(),
            [&] { return "Can't send to " + to.to_string() + ": " + error.message(); });
  if (!is_about_one_family(to, error)) later_.emplace_back(swim::send_failed{to, error});
}

/// A host without a route for IPv6 may have members told of there for ever. As long as others are
/// heard over IPv4, that says nothing about how well we are; and the other way round.
bool driver::impl::is_about_one_family(const endpoint& to, const std::error_code& error) const {
  if (error != std::errc::network_unreachable && error != std::errc::host_unreachable) return false;
  const auto heard = to.is_v4() ? heard_v6_ : heard_v4_;
  const base::duration interval = options_.protocol.timing.probe_interval;
  return heard != base::time_point{} && now() - heard < 10 * interval;
}

void driver::impl::stream_opened(swim::stream_id id) {
  apply(swim::stream_opened{id});
}

void driver::impl::stream_accepted(swim::stream_id id, const endpoint& from) {
  apply(swim::stream_accepted{id, from});
}

void driver::impl::stream_ended(swim::stream_id id, std::error_code error) {
  greetings_.erase(id);
  apply(swim::stream_ended{id, error});
}

void driver::impl::frame_received(swim::stream_id id, std::span<const std::uint8_t> frame) {
  const base::scratch<swim::packet> packet;
  incoming_ = &*packet;
  const auto error = codec_.decode_frame(frame, *incoming_);
  if (error != wire::decode_error::none) return frame_refused(id, error);
  if (!may_pass(id)) return;
  leave_out_disallowed(*incoming_);
  apply(swim::stream_received{id, *incoming_});
  incoming_ = nullptr;
}

void driver::impl::frame_refused(swim::stream_id id, wire::decode_error error) {
  count_dropped(error, nullptr);
  ++count_.streams_failed;
  greetings_.erase(id);
  const auto as_error = as_stream_error(error);
  if (as_error == errc::wrong_key && swim::is_accepted(id)) {
    // A frame of ours tells the peer what is wrong: it can't open it either, or finds it sealed.
    // As an echo of nothing it can't be taken for a packet of ours anywhere else.
    send_proof(id, {0, wire::challenger::draw()});
    streams_->close(id);
  }
  // The machine may answer a foreign peer with a refusal before it closes; then let that be sent.
  apply(swim::stream_ended{id, as_error});
  streams_->drop(id);
}

bool driver::impl::is_members_source(const endpoint& source) {
  return sources_.contains(source, *machine_, now());
}

void driver::impl::seed_resolved(const std::string& seed, std::vector<endpoint> addresses,
                                 std::error_code error) {
  if (!error) {
    unresolved_.erase(seed);
  } else if (unresolved_.insert(seed).second) {
    options_.log(log_level::warning,
                 "seed " + seed + " has no address that we can use: " + error.message());
  }
  apply(swim::seed_resolved{seed, std::move(addresses), error});
  settle();
}

void driver::impl::count_disallowed(const endpoint& from) {
  ++count_.dropped_not_allowed;
  complain_(complaint::not_allowed, log_level::warning, now(), [&] {
    return from.to_string() + " lies outside of the allowed networks and isn't heard";
  });
}

/// `from` is known for datagrams.
void driver::impl::count_dropped(wire::decode_error error, const endpoint* from) {
  const auto say = [&](complaint kind, std::string_view what) {
    complain_(kind, log_level::warning, now(), [&] {
      return "Dropped what " + (from != nullptr ? from->to_string() : "a stream") +
             " sent: " + std::string(what);
    });
  };
  switch (error) {
    case wire::decode_error::wrong_cluster:
      ++count_.dropped_wrong_cluster;
      return say(complaint::wrong_cluster, "it is of another cluster");
    case wire::decode_error::wrong_version:
      ++count_.dropped_wrong_version;
      return say(complaint::wrong_version, "it is of a version that we don't speak");
    case wire::decode_error::not_sealed:
      ++count_.dropped_not_sealed;
      return say(complaint::not_sealed, "it is not sealed");
    case wire::decode_error::cannot_open:
      ++count_.dropped_cannot_open;
      return say(complaint::cannot_open, "it is sealed, and no key that we hold opens it");
    case wire::decode_error::repeated:
      ++count_.dropped_repeated;
      return;
    case wire::decode_error::not_ours:
      ++count_.dropped_not_ours;
      return;
    case wire::decode_error::over_limit:
      ++count_.dropped_over_limit;
      return;
    default:
      ++count_.dropped_malformed;
  }
}

}  // namespace lifering::net
