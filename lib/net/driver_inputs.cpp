// From the network and the clock to the machine.
#include <chrono>
#include <lifering/error.hpp>

#include "base/check.hpp"
#include "net/driver_impl.hpp"

namespace lifering::net {
namespace {

/// A timer that expires with so much delay was held up, by work of ours or by others' on our cores.
constexpr base::duration late = std::chrono::milliseconds(2);

std::error_code as_stream_error(wire::decode_error error) {
  switch (error) {
    case wire::decode_error::wrong_cluster:
      return errc::wrong_cluster;
    case wire::decode_error::wrong_version:
      return errc::wrong_version;
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
  LIFERING_CHECK(!is_busy_);
  return is_busy_ = state_ == state::running;
}

void driver::impl::settle() {
  if (is_busy_ || state_ != state::running) return;
  udp_->flush();
  while (!later_.empty()) {
    const auto inputs = std::exchange(later_, {});
    for (const auto& each : inputs) {
      std::visit([this](const auto& input) { apply(input); }, each);
    }
    if (state_ != state::running) return;
    udp_->flush();
  }
  arm_timer();
}

void driver::impl::arm_timer() {
  const auto due = machine_->next_deadline();
  // Waking too early costs less than moving the timer each time that the deadline moves back.
  if (due >= armed_for_) return;
  armed_for_ = due;
  timer_.expires_at(std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(due.time_since_epoch())));
  timer_.async_wait([this, token = pending_.begin()](std::error_code error) {
    if (!error) timer_expired();
  });
}

void driver::impl::timer_expired() {
  armed_for_ = base::never;
  if (state_ == state::running && now() - machine_->next_deadline() >= late) {
    // Where we run late, answers may have come in time and wait in the socket: they go first.
    udp_->receive_pending();
  }
  if (state_ == state::running && now() >= machine_->next_deadline() && enter()) {
    machine_->advance(now(), effects_);
    carry_out();
  }
  settle();
}

void driver::impl::datagram_received(const endpoint& from, std::span<const std::uint8_t> bytes) {
  const auto error = codec_.decode(bytes, incoming_);
  if (error != wire::decode_error::none) return count_dropped(error);
  apply(swim::packet_received{from, incoming_});
}

void driver::impl::datagram_refused(const endpoint& peer) {
  later_.emplace_back(swim::peer_refused{peer});
}

void driver::impl::datagram_failed(const endpoint& to, std::error_code error) {
  later_.emplace_back(swim::send_failed{to, error});
}

void driver::impl::stream_opened(swim::stream_id id) {
  apply(swim::stream_opened{id});
}

void driver::impl::stream_accepted(swim::stream_id id, const endpoint& from) {
  apply(swim::stream_accepted{id, from});
}

void driver::impl::stream_ended(swim::stream_id id, std::error_code error) {
  apply(swim::stream_ended{id, error});
}

void driver::impl::frame_received(swim::stream_id id, std::span<const std::uint8_t> frame) {
  const auto error = codec_.decode(frame, incoming_);
  if (error != wire::decode_error::none) return frame_refused(id, error);
  apply(swim::stream_received{id, incoming_});
}

void driver::impl::frame_refused(swim::stream_id id, wire::decode_error error) {
  count_dropped(error);
  ++count_.streams_failed;
  // The machine may answer a foreign peer with a refusal before it closes; then let that be sent.
  apply(swim::stream_ended{id, as_stream_error(error)});
  streams_->drop(id);
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

void driver::impl::count_dropped(wire::decode_error error) {
  switch (error) {
    case wire::decode_error::wrong_cluster:
      ++count_.dropped_wrong_cluster;
      break;
    case wire::decode_error::wrong_version:
      ++count_.dropped_wrong_version;
      break;
    default:
      ++count_.dropped_malformed;
  }
}

}  // namespace lifering::net
