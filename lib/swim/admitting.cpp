// The part of the synchronizer that lets nobody in whom members couldn't reach: who comes by a
// stream is pinged at the address that it advertises before the exchange goes on.
#include <algorithm>
#include <lifering/error.hpp>
#include <utility>

#include "swim/synchronizer.hpp"

namespace lifering::swim {
namespace {

/// Why nobody here could reach a member at the address that it advertises; empty where it may be.
std::string unreachable_because(const endpoint& advertised, const endpoint& seen_at) {
  if (advertised.port == 0) return "it has no port";
  if (advertised.is_unspecified()) return "the unspecified address leads nowhere";
  if (advertised.is_multicast()) return "a multicast address is no single host's";
  if (advertised.is_loopback() && !seen_at.is_loopback()) {
    return "a loopback address is of its own host alone, and it calls from " + seen_at.to_string();
  }
  return {};
}

std::string cannot_reach(const endpoint& advertised, const std::string& why) {
  return "we can't reach " + advertised.to_string() + ": " + why +
         "; advertise the address that members reach this process at";
}

}  // namespace

/// False if that was the end of the exchange.
bool synchronizer::take_own_row(session& at, const record_ptr& life, bool provisional) {
  const bool serving = at.what == purpose::serve;
  if (serving) {
    if (const auto why = unreachable_because(life->address, at.peer); !why.empty()) {
      refuse(at, refusal_reason::invalid_member, cannot_reach(life->address, why));
      return false;
    }
  }
  if (!members_.can_be_member(*life)) {
    ++shared_.counters.dropped_bad_record;
  } else if (at.door.covers(*life) || (!serving && has_called(*life))) {
    members_.admit_proved(life);
  } else {
    at.door.ask(shared_, life, provisional);
  }
  return true;
}

bool synchronizer::has_called(const record& life) const noexcept {
  // It has pinged us from there before it answered on the stream. So it has our ack, which went
  // there; or it took a member's word for us, and that one has reached it.
  return std::any_of(callers_.begin(), callers_.end(), [&life](const caller& each) {
    return each.from == life.address && each.epoch == life.epoch &&
           each.name == hash_bytes(life.name);
  });
}

// What is heard of them.

void synchronizer::on_call(const endpoint& from, const sender& by) {
  if (exchanges() == 0) return;
  if (callers_.size() >= callers_max) callers_.erase(callers_.begin());
  callers_.push_back({hash_bytes(by.name), by.epoch, from});
}

bool synchronizer::on_ack(std::uint64_t sequence, const sender& by) {
  const auto found = std::find_if(sessions_.begin(), sessions_.end(),
                                  [&](session& s) { return s.door.on_ack(sequence, by); });
  if (found == sessions_.end()) return false;
  decided_ = true;
  if (!found->door.provisional()) members_.admit_proved(record_ptr(found->door.life()));
  return true;
}

void synchronizer::on_refused(const endpoint& address) noexcept {
  for (session& each : sessions_)
    each.door.on_refused(address);
}

void synchronizer::on_held(row_id id) noexcept {
  // Another member that could reach it was faster; that is good enough for us.
  const record& held = *shared_.table.at(id).subject;
  for (session& each : sessions_) {
    if (!each.door.waiting()) continue;
    const record& asked = *each.door.life();
    const bool same = asked.epoch == held.epoch;  // wherever it has moved meanwhile
    const bool outgrown = asked.epoch < held.epoch && asked.address == held.address;
    if (asked.name != held.name || !(same || outgrown)) continue;
    each.door.vouch();
    decided_ = true;
  }
}

bool synchronizer::asks(const record& life) const noexcept {
  return std::any_of(sessions_.begin(), sessions_.end(), [&life](const session& each) {
    if (!each.door.waiting() || each.door.provisional()) return false;
    const record& asked = *each.door.life();
    return asked.epoch == life.epoch && asked.name == life.name && asked.address == life.address;
  });
}

bool synchronizer::asks_at(const endpoint& address) const noexcept {
  return std::any_of(sessions_.begin(), sessions_.end(), [&address](const session& each) {
    return each.door.waiting() && each.door.life()->address == address;
  });
}

void synchronizer::advance() {
  for (session& each : sessions_) {
    each.door.advance(shared_);
    if (each.door.given_up()) decided_ = true;
  }
}

base::time_point synchronizer::next_deadline() const noexcept {
  base::time_point next = base::never;
  for (const session& each : sessions_)
    next = std::min(next, each.door.next_deadline());
  return next;
}

// Going on.

void synchronizer::attend() {
  if (!std::exchange(decided_, false)) return;
  for (std::size_t i = sessions_.size(); i-- > 0;) {
    if (i >= sessions_.size()) continue;  // one that ended took others with it
    session& at = sessions_[i];
    const bool decided = at.reached == stage::whole && !at.door.waiting();
    if (decided || (at.what == purpose::serve && at.door.given_up())) conclude(at);
  }
}

/// The other's view is here, or who it is of was given up.
void synchronizer::conclude(session& at) {
  const stream_id stream = at.stream;
  if (at.what == purpose::exchange) {
    if (!at.door.given_up()) return exchange_done(at);
    // Whom else it has told us of are members all the same, and may know better.
    if (shared_.others() > 0) return exchange_done(at);
    const std::string detail =
        "it advertises " + at.door.life()->address.to_string() + ", but " + at.door.why();
    return close(stream, {errc::unreachable, detail});
  }
  if (at.door.given_up()) {
    ++shared_.counters.dropped_unanswered;
    return refuse(at, refusal_reason::invalid_member,
                  cannot_reach(at.door.life()->address, at.door.why()));
  }
  if (shared_.phase != life_phase::running) {
    return refuse(at, refusal_reason::busy, "this member is leaving");
  }
  if (const record* life = at.door.life().get()) {
    if (!at.door.provisional() && members_.is_stranger(*life)) return refuse_full(at);
    const row_id id = shared_.table.find(life->name);
    // Meanwhile another process of its name may have come in, which it must outgrow.
    const std::uint64_t held = id == no_row ? 0 : shared_.table.at(id).subject->epoch;
    if (held > life->epoch) at.remembered = std::max(at.remembered, held);
  }
  answer(at);
}

void synchronizer::refuse_full(session& at) {
  refuse(at, refusal_reason::too_many_members,
         "the limit is " + std::to_string(shared_.settings.limits.members) + " members");
}

void synchronizer::answer(session& at) {
  const stream_id stream = at.stream;
  at.reached = stage::answered;
  packet& reply = shared_.frame(stream);
  reply.body = sync_reply{at.remembered, at.peer};
  send_view(stream);
}

}  // namespace lifering::swim
