#include "swim/farewell.hpp"

#include <algorithm>
#include <lifering/error.hpp>

namespace lifering::swim {

void farewell::leave(const leave_command& asked) {
  if (pending_ || shared_.phase != life_phase::running) {
    shared_.out->push(completed{asked.id, pending_ ? errc::busy : errc::stopped, 0,
                                pending_ ? "another leave is under way" : "this member has left"});
    return;
  }
  members_.say_goodbye();
  pending_ = true;
  id_ = asked.id;
  deadline_ = shared_.now + asked.deadline;
  acknowledged_ = 0;
  notices_.clear();
  wanted_ = std::min<std::uint32_t>(shared_.settings.leave_acks, reachable(false));
  if (wanted_ == 0) return finish({});
  tell_some();
}

std::uint32_t farewell::reachable(bool also_in_doubt) const {
  // Who is gone, as its host says, never answers; who is in doubt perhaps.
  std::uint32_t count = 0;
  for (const row_id id : shared_.table.others()) {
    const bool refused = std::any_of(notices_.begin(), notices_.end(), [id](const notice& n) {
      return n.to == id && n.refused && !n.acknowledged;
    });
    const bool well = shared_.table.at(id).state == member_state::alive;
    if (!refused && (well || also_in_doubt)) ++count;
  }
  return count;
}

void farewell::on_refused(const endpoint& address) {
  if (!pending_) return;
  for (notice& each : notices_) {
    if (shared_.table.at(each.to).subject->address == address) each.refused = true;
  }
  wanted_ = std::min(wanted_, reachable(false));
  if (acknowledged_ >= wanted_) finish({});
}

void farewell::tell_some() {
  // Each time to twice as many as are still missing: those who answered, never again; a dead one
  // must not hold us up.
  const std::size_t fanout = 2 * std::size_t{wanted_ - acknowledged_};
  std::vector<row_id> chosen;
  for (std::size_t draws = 0; chosen.size() < fanout && draws < 8 * fanout; ++draws) {
    const row_id drawn = shared_.table.random_other(shared_.random);
    if (drawn == no_row) break;
    const bool done = std::any_of(notices_.begin(), notices_.end(), [drawn](const notice& n) {
      return n.to == drawn && (n.acknowledged || n.refused);
    });
    if (done || std::find(chosen.begin(), chosen.end(), drawn) != chosen.end()) continue;
    chosen.push_back(drawn);
  }
  for (const row_id to : chosen) {
    const record& peer = *shared_.table.at(to).subject;
    const std::uint64_t sequence = shared_.next_sequence();
    packet& sent = shared_.datagram(peer.address);
    sent.ask(sequence, peer.name, peer.epoch);
    sent.updates.push_back(shared_.update_of(shared_.self_row));
    notices_.push_back({to, sequence});
  }
  next_try_ = shared_.now + shared_.ping_timeout();
}

bool farewell::on_ack(std::uint64_t sequence) {
  const auto found = std::find_if(notices_.begin(), notices_.end(),
                                  [sequence](const notice& n) { return n.sequence == sequence; });
  if (found == notices_.end()) return false;
  const bool counted = std::any_of(notices_.begin(), notices_.end(), [&](const notice& n) {
    return n.to == found->to && n.acknowledged;
  });
  found->acknowledged = true;
  if (!counted && pending_ && ++acknowledged_ >= wanted_) finish({});
  return true;
}

void farewell::cancel(command_id target) {
  if (pending_ && id_ == target) finish(errc::canceled);
}

void farewell::advance() {
  if (!pending_) return;
  if (deadline_ <= shared_.now) return finish(errc::timed_out);
  if (next_try_ > shared_.now) return;
  // Who has left or failed meanwhile won't answer. Who is in doubt may.
  wanted_ = std::min(wanted_, reachable(true));
  if (acknowledged_ >= wanted_) return finish({});
  tell_some();
}

void farewell::finish(std::error_code error) {
  pending_ = false;
  shared_.phase = life_phase::gone;
  shared_.out->push(completed{id_, error, acknowledged_, ""});
}

base::time_point farewell::next_deadline() const noexcept {
  return pending_ ? std::min(deadline_, next_try_) : base::never;
}

}  // namespace lifering::swim
