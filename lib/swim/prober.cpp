#include "swim/prober.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace lifering::swim {
namespace {

constexpr std::size_t nowhere = ~std::size_t{0};
constexpr unsigned direct_tries_max = 10;
constexpr int ticks = 5;  // In a probe interval.

template <class T>
void remove_at(std::vector<T>& values, std::size_t index) {
  if (index + 1 != values.size()) values[index] = std::move(values.back());
  values.pop_back();
}

}  // namespace

prober::prober(core& shared, membership& members, stream_prober probe_by_stream)
    : shared_(shared),
      members_(members),
      probe_by_stream_(std::move(probe_by_stream)),
      next_turn_(turn_after(shared.jitter(shared.settings.timing.probe_interval))) {}

/// On a tick, so that members on one machine wake it together: most of what an idle member costs is
/// the wake. Which tick is left to chance, lest all that start together probe in step.
base::time_point prober::turn_after(base::duration pause) const noexcept {
  return base::round_up(shared_.now + pause, shared_.settings.timing.probe_interval / ticks);
}

// Our own probes.

row_id prober::next_target() {
  if (!shared_.settings.parts.shuffled_rounds) return shared_.table.random_other(shared_.random);
  return shared_.table.next_in_round(shared_.random);
}

void prober::probe_now(row_id id) {
  if (stopped_ || id == shared_.self_row || !shared_.table.at(id).present()) return;
  const bool under_way =
      std::any_of(probes_.begin(), probes_.end(), [id](const probe& p) { return p.target == id; });
  if (under_way || probes_.size() >= probes_max) return;
  start(id, shared_.now + shared_.scaled(shared_.settings.timing.probe_interval));
}

void prober::start(row_id id, base::time_point give_up) {
  ++shared_.counters.probes;
  probe& p = probes_.emplace_back();
  p.target = id;
  p.epoch = shared_.table.at(id).subject->epoch;
  p.sequence = shared_.next_sequence();
  p.started = shared_.now;
  p.give_up = give_up;
  send_ping(p);
  p.next_try = shared_.now + shared_.ping_timeout();
}

void prober::send_ping(probe& p) {
  ++p.tries;
  const record& target = *shared_.table.at(p.target).subject;
  packet& sent = shared_.datagram(target.address);
  sent.ask(p.sequence, target.name, target.epoch);
  shared_.piggyback(sent, p.target);
}

void prober::retry(probe& p) {
  if (!p.asked_helpers) {
    p.asked_helpers = true;
    ask_helpers(p);
    if (shared_.settings.parts.stream_probe) {
      ++shared_.counters.stream_probes;
      probe_by_stream_(p.target, p.sequence);
    }
  }
  if (!shared_.settings.parts.repeated_pings || p.tries >= direct_tries_max) {
    p.next_try = base::never;
    return;
  }
  // Spread over the whole probe, since a burst of loss is shorter; many, since a suspicion that
  // loss alone raised costs more than they do.
  const base::duration interval = shared_.scaled(shared_.settings.timing.probe_interval);
  p.next_try = shared_.now + std::max(shared_.ping_timeout(), interval / direct_tries_max);
  send_ping(p);
}

void prober::ask_helpers(probe& p) {
  const std::size_t others = shared_.others();
  const std::size_t wanted =
      std::min<std::size_t>(shared_.settings.timing.indirect_probes, others > 0 ? others - 1 : 0);
  helpers_.clear();
  // Distinct, present and not in doubt; a cluster in which most are in doubt yields fewer.
  for (std::size_t draws = 0; helpers_.size() < wanted && draws < 8 * wanted; ++draws) {
    const row_id helper = shared_.table.random_other(shared_.random);
    if (helper == p.target || shared_.table.at(helper).state != member_state::alive) continue;
    if (std::find(helpers_.begin(), helpers_.end(), helper) != helpers_.end()) continue;
    helpers_.push_back(helper);
  }
  const record_ptr target = shared_.table.at(p.target).subject;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(p.give_up - shared_.now);
  for (const row_id helper : helpers_) {
    packet& sent = shared_.datagram(shared_.table.at(helper).subject->address);
    sent.ask_helper(p.sequence, *target,
                    static_cast<std::uint32_t>(std::max<std::int64_t>(1, left.count())));
    shared_.piggyback(sent, helper);
  }
  p.helpers = static_cast<unsigned>(helpers_.size());
  shared_.counters.indirect_probes += helpers_.size();
}

void prober::on_ack(std::uint64_t sequence) {
  if (const std::size_t index = find(sequence); index != nowhere) return succeed(index, false);
  for (std::size_t i = 0; i < relays_used_; ++i) {
    if (relays_[i].sequence != sequence) continue;
    shared_.datagram(relays_[i].asker).body = ack{relays_[i].asked_sequence};
    end_relay(i);
    return;
  }
  ++shared_.counters.dropped_unknown_sequence;
}

void prober::on_nack(std::uint64_t sequence) {
  const std::size_t index = find(sequence);
  if (index == nowhere) {
    ++shared_.counters.dropped_unknown_sequence;
    return;
  }
  if (probes_[index].nacks < probes_[index].helpers) ++probes_[index].nacks;
}

void prober::on_stream_ack(std::uint64_t sequence) {
  if (const std::size_t index = find(sequence); index != nowhere) {
    ++shared_.counters.stream_probes_saved;
    succeed(index, true);
  }
}

void prober::on_stream_refused(std::uint64_t sequence) {
  const std::size_t index = find(sequence);
  if (index == nowhere || !shared_.settings.parts.transport_evidence) return;
  probes_[index].refused = true;
  conclude(index);
}

void prober::on_refused(const endpoint& address) {
  if (!shared_.settings.parts.transport_evidence || stopped_) return;
  shared_.heard_any = shared_.now;  // a host speaks: we aren't cut off
  bool answered = false;
  for (std::size_t i = 0; i < probes_.size();) {
    if (shared_.table.at(probes_[i].target).subject &&
        shared_.table.at(probes_[i].target).subject->address == address) {
      answered = true;
      probes_[i].refused = true;
      conclude(i);  // removes it
    } else {
      ++i;
    }
  }
  // It was a probe that was refused. Another one now, while we judge nobody, would be refused and
  // repeated as fast as packets travel.
  if (answered) return;
  for (const row_id id : shared_.table.others()) {
    const row& held = shared_.table.at(id);
    if (held.subject->address == address && held.state == member_state::alive) {
      return probe_now(id);  // something else than a probe was refused: look at once
    }
  }
}

void prober::succeed(std::size_t index, bool by_stream) {
  const probe& p = probes_[index];
  if (!by_stream && p.tries == 1 && !p.asked_helpers) {
    const base::duration measured = shared_.now - p.started;
    shared_.trip.sample(measured);  // Karn: only unambiguous round trips
    ++shared_.counters.round_trips;
    shared_.counters.round_trip_microseconds += to_microseconds(measured);
  }
  shared_.settled = true;
  shared_.health.better();
  remove_at(probes_, index);
}

void prober::conclude(std::size_t index) {
  const probe p = probes_[index];
  remove_at(probes_, index);
  if (!still_meant(p)) return;
  ++shared_.counters.probes_failed;
  const unsigned missed = p.helpers - p.nacks;
  const bool nacks = shared_.settings.parts.nacks;
  if (!p.refused) {
    if (nacks) shared_.counters.nacks_missed += missed;
    // Whether it was us: helpers that stayed silent as well say so.
    unsigned worse = nacks ? missed : 0;
    if (shared_.settings.parts.failed_probe_always_counts) ++worse;
    shared_.health.worse(worse);
  }
  members_.accuse(p.target, p.refused);
}

bool prober::still_meant(const probe& p) const noexcept {
  const row& held = shared_.table.at(p.target);
  return held.subject && held.present() && held.subject->epoch == p.epoch;
}

std::size_t prober::find(std::uint64_t sequence) const noexcept {
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    if (probes_[i].sequence == sequence) return i;
  }
  return nowhere;
}

// Probes of others.

void prober::on_ping(const endpoint& from, const sender& by, row_id by_row, const ping& asked) {
  if (!shared_.is_self(asked.target)) {
    ++shared_.counters.dropped_not_for_us;
    return;
  }
  if (asked.target_epoch != shared_.self->epoch) {
    ++shared_.counters.dropped_not_for_us;
    if (asked.target_epoch > shared_.self->epoch) {
      if (!shared_.settled)
        members_.outgrow(asked.target_epoch);
      else
        return;
    }
    // It means an older life of ours: tell it of this one instead of answering for the dead.
    shared_.datagram(from).updates.push_back(shared_.update_of(shared_.self_row));
    return;
  }
  packet& answer = shared_.datagram(from);
  answer.body = ack{asked.sequence};
  if (by_row != no_row && shared_.table.at(by_row).subject->epoch == by.epoch) {
    shared_.piggyback(answer, by_row);
  }
}

void prober::on_ping_request(const endpoint& from, row_id by_row, const ping_request& asked) {
  if (by_row == no_row || relays_used_ >= relays_max) return;  // helps members only
  // The asker's address of the target may be newer than ours; the name in the ping guards it.
  if (relays_used_ == relays_.size()) relays_.emplace_back();
  relay& r = relays_[relays_used_++];
  r.asker = from;
  r.asked_sequence = asked.sequence;
  r.sequence = shared_.next_sequence();
  const base::duration patience = std::min<base::duration>(
      std::chrono::milliseconds(asked.timeout_ms), std::chrono::minutes(1));
  r.nack_at = shared_.settings.parts.nacks ? shared_.now + patience * 8 / 10 : base::never;
  r.again_at =
      shared_.settings.parts.repeated_pings ? shared_.now + patience * 4 / 10 : base::never;
  r.expires = shared_.now + patience * 2;
  r.target = asked.target;
  r.target_epoch = asked.target_epoch;
  r.target_address = asked.target_address;
  send_relayed(r);
}

void prober::end_relay(std::size_t index) {
  std::swap(relays_[index], relays_[--relays_used_]);  // keeps the storage of its name
}

void prober::send_relayed(const relay& r) {
  packet& sent = shared_.datagram(r.target_address);
  sent.ask(r.sequence, r.target, r.target_epoch);
  // News is for members, at the address that we hold; an asker may name any.
  const row_id known = shared_.table.find(r.target);
  if (known != no_row && shared_.table.at(known).subject->address == r.target_address) {
    shared_.piggyback(sent, known);
  }
}

// Time.

void prober::advance() {
  for (std::size_t i = 0; i < probes_.size();) {
    if (!still_meant(probes_[i])) {
      remove_at(probes_, i);
    } else if (probes_[i].give_up <= shared_.now) {
      conclude(i);
    } else {
      if (probes_[i].next_try <= shared_.now) retry(probes_[i]);
      ++i;
    }
  }
  for (std::size_t i = 0; i < relays_used_;) {
    if (relays_[i].again_at <= shared_.now) {  // one loss on the way is not the target's silence
      relays_[i].again_at = base::never;
      send_relayed(relays_[i]);
    }
    if (relays_[i].nack_at <= shared_.now) {
      shared_.datagram(relays_[i].asker).body = nack{relays_[i].asked_sequence};
      relays_[i].nack_at = base::never;
    }
    if (relays_[i].expires <= shared_.now)
      end_relay(i);
    else
      ++i;
  }
  if (stopped_ || next_turn_ > shared_.now) return;
  const base::duration interval = shared_.scaled(shared_.settings.timing.probe_interval);
  // A turn that comes late is not to shorten its probe.
  const bool in_time = shared_.now - next_turn_ < interval / 8;
  next_turn_ = in_time ? next_turn_ + interval : turn_after(interval);
  const row_id target = next_target();
  if (target != no_row && probes_.size() < probes_max) start(target, next_turn_);
}

base::time_point prober::next_deadline() const noexcept {
  base::time_point next = stopped_ ? base::never : next_turn_;
  for (const auto& p : probes_)
    next = std::min({next, p.next_try, p.give_up});
  for (std::size_t i = 0; i < relays_used_; ++i)
    next = std::min({next, relays_[i].again_at, relays_[i].nack_at, relays_[i].expires});
  return next;
}

void prober::abandon() {
  probes_.clear();
  relays_used_ = 0;
  next_turn_ = turn_after(shared_.jitter(shared_.settings.timing.probe_interval));
}

void prober::postpone(base::duration by) noexcept {
  for (probe& p : probes_) {
    if (p.next_try != base::never) p.next_try += by;
    p.give_up += by;
  }
}

void prober::stop() noexcept {
  stopped_ = true;
  probes_.clear();
}

void prober::resume() {
  stopped_ = false;
  abandon();
}

}  // namespace lifering::swim
