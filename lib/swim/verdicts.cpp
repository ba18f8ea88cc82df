// The part of membership that judges: suspicions, who may raise them, how long they run, what a
// verdict rests on (Lifeguard IV-B), and how often a life has failed.
#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "swim/membership.hpp"

namespace lifering::swim {

void membership::accuse(row_id subject, bool refused) {
  const row& held = shared_.table.at(subject);
  if (!held.subject || !held.present() || subject == shared_.self_row) return;
  if (shared_.phase != life_phase::running || shared_.now < shared_.judging_from) return;
  if (!shared_.settings.parts.suspicion) return fail(subject, held.incarnation, 1, 0);
  ++shared_.counters.suspicions_raised;
  suspect(subject, held.incarnation, {shared_.self->name, shared_.self->epoch, refused});
}

void membership::suspect(row_id id, std::uint64_t incarnation, const accuser& by) {
  const bool ours = shared_.is_self(by.name);
  suspicion* running = suspicions_.find(id);
  if (running && incarnation > shared_.table.at(id).incarnation) {
    // It spoke up in between and is suspected anew: older accusations are void.
    suspicions_.stop(id);
    running = nullptr;
  }
  const bool first = running == nullptr;
  if (first) {
    const bool was_alive = shared_.table.at(id).state == member_state::alive;
    shared_.table.change(id, nullptr, incarnation, member_state::suspect, shared_.now,
                         shared_.random);
    running = &suspicions_.start(id, shared_.now);
    running->add(by.name, by.epoch, by.refused);
    set_deadline(*running);
    if (was_alive) shared_.notify(event_kind::suspected, id);
    spread_suspicion(id, by);
  } else {
    const auto refusals = running->refusals();
    const bool added = running->add(by.name, by.epoch, by.refused);
    if (!added && running->refusals() == refusals) return;
    if (added) ++shared_.counters.suspicions_confirmed;
    set_deadline(*running);
    if (running->accusers.size() <= shared_.settings.suspicion_confirmations + 1) {
      spread_suspicion(id, by);
    }
  }
  if (first && !ours && shared_.settings.parts.confirm_at_once &&
      shared_.phase == life_phase::running) {
    // About eight of all members look for themselves at once; which ones is drawn by each.
    if (shared_.random.chance(8, std::max<std::uint64_t>(8, shared_.others()))) probe_now_(id);
  }
}

/// A verdict out of the blue, while parts of the network that were cut off come together: those who
/// reached it may have been elsewhere than its subject. That one is asked; if it is silent for a
/// moment, the verdict stands.
void membership::examine(row_id id, const update& verdict) {
  suspect(id, verdict.incarnation, {verdict.accuser, verdict.accuser_epoch, false});
  suspicion* running = suspicions_.find(id);
  if (running == nullptr) return;
  running->verdict_witnesses = verdict.witnesses;
  running->verdict_failures = verdict.failures;
  set_deadline(*running);
  ask_and_probe(id, verdict.incarnation);
}

void membership::spread_suspicion(row_id id, const accuser& by) {
  if (shared_.gossip.add_accuser(id, by.name, by.epoch, by.refused)) return;
  // The first, or the earlier accusers have been told of as often as they may.
  update news = shared_.update_of(id);
  news.accuser = by.name;
  news.accuser_epoch = by.epoch;
  news.refused = by.refused;
  shared_.gossip.put(id, gossip_class::suspicion, news);
}

void membership::fail(row_id id, std::uint64_t incarnation, std::uint32_t witnesses,
                      std::uint32_t failures) {
  suspicions_.stop(id);
  shared_.table.change(id, nullptr, incarnation, member_state::failed, shared_.now, shared_.random);
  shared_.table.mark_failures(id, failures, shared_.now);
  view_changed();
  shared_.notify(event_kind::failed, id);
  update news = shared_.update_of(id);
  news.witnesses = witnesses;
  shared_.gossip.put(id, gossip_class::failure, news);
}

std::uint32_t membership::failures_with_this(row_id id) const {
  const base::duration first = shared_.settings.timing.hold_down;
  if (first.count() == 0) return 0;
  std::size_t lately = 1;
  for (row_id other = 0; other < shared_.table.slots(); ++other) {
    const row& held = shared_.table.at(other);
    lately += held.subject && held.state == member_state::failed &&
              shared_.now - held.since < failure_memory(1, first);
  }
  if (!is_single_failure(lately, shared_.table.present() - 1)) return 0;
  const row& held = shared_.table.at(id);
  const bool again =
      held.failures > 0 && shared_.now - held.failed_at < failure_memory(held.failures, first);
  return (again ? held.failures : 0u) + 1;
}

base::duration membership::shortest_suspicion() const noexcept {
  const auto& timing = shared_.settings.timing;
  base::duration shortest = suspicion_minimum(timing.suspicion_multiplier, shared_.table.present(),
                                              timing.probe_interval);
  // With nobody or one other to testify, our own further tries are the evidence: wait for them.
  if (shared_.settings.parts.lone_accuser_rule) {
    if (shared_.others() <= 1)
      shortest *= 2;
    else if (shared_.others() == 2)
      shortest = shortest * 3 / 2;
  }
  return shortest;
}

base::duration membership::longest_suspicion() const noexcept {
  return shortest_suspicion() * shared_.settings.timing.suspicion_stretch;
}

std::size_t membership::witnesses_needed(row_id subject) noexcept {
  // Who could testify: ourselves and every present member but the subject that isn't in doubt.
  std::size_t in_doubt = 0;
  for (const auto& s : suspicions_.running())
    in_doubt += s.subject != subject;
  const std::size_t present = shared_.table.present() - 1;
  const std::size_t able = present > in_doubt ? present - in_doubt : 1;
  // Where we seem to be the last of several, one witness isn't enough: it may be us.
  const std::size_t least = shared_.others() >= 2 ? 2 : 1;
  return std::clamp<std::size_t>(able, least, witnesses_max);
}

void membership::set_deadline(suspicion& s) {
  const base::duration shortest = shortest_suspicion();
  const base::duration longest = longest_suspicion();
  const std::size_t needed = witnesses_needed(s.subject);
  const auto confirmations = static_cast<unsigned>(s.accusers.size() - 1);
  // Lifeguard's K confirmations, or as many as there can be.
  const unsigned possible = static_cast<unsigned>(shared_.others() > 1 ? shared_.others() - 1 : 0);
  const unsigned expected = std::min(shared_.settings.suspicion_confirmations, possible);
  if (s.verdict_witnesses >= needed) {
    s.deadline = s.started + shortest / 4;
  } else if (!shared_.settings.parts.local_health_suspicion) {
    s.deadline = s.started + shortest;
  } else if (shared_.settings.parts.transport_evidence && s.refusals() >= needed) {
    // The host itself told enough of us that the process is gone.
    s.deadline = s.started + shortest / 4;
  } else {
    s.deadline = s.started + suspicion_timeout(shortest, longest, confirmations, expected);
  }
  if (shared_.settings.parts.lone_accuser_rule && s.witnesses() < needed) {
    s.deadline = std::min(s.deadline, last_look(s));
  }
  s.deadline = std::max(s.deadline, shared_.judging_from);
}

/// When the subject of a suspicion that too few share is probed once more. What they saw may be
/// past: after a cut of the network nobody else, and so not the subject either, has heard of it.
base::time_point membership::last_look(const suspicion& s) const noexcept {
  return s.started + longest_suspicion() -
         2 * base::duration(shared_.settings.timing.probe_interval);
}

void membership::suspicion_due(suspicion& s) {
  const row_id id = s.subject;
  const row& held = shared_.table.at(id);
  LIFERING_CHECK(held.state == member_state::suspect);
  if (shared_.now < shared_.judging_from) {
    s.deadline = shared_.judging_from;
    return;
  }
  const auto witnesses = static_cast<std::uint32_t>(s.witnesses());
  if (shared_.settings.parts.lone_accuser_rule) {
    if (held.ever_heard && held.heard > s.started) {
      // It speaks to us; its contradiction is on the way. Ask for it and wait once more.
      ask_subject(id, held.incarnation);
      s.started = held.heard;
      s.deadline = shared_.now + shortest_suspicion();
      return;
    }
    // Before the witnesses: to one that hears nobody all are in doubt, so none is left to testify.
    if (isolated() && !shared_.settings.take_all_when_isolated) {
      if (!told_isolated_) {
        told_isolated_ = true;
        ++shared_.counters.isolations;
        shared_.notify(event_kind::isolated, shared_.self_row);
      }
      s.deadline = shared_.now + longest_suspicion();
      return;
    }
    const base::time_point latest = s.started + longest_suspicion();
    if (witnesses < witnesses_needed(id) && shared_.now < latest) {
      const bool looks = shared_.now >= last_look(s);
      s.deadline = looks ? latest : last_look(s);
      if (looks) probe_now_(id);
      return;
    }
  }
  ++shared_.counters.failures_declared;
  const auto failures = s.verdict_witnesses > 0 ? s.verdict_failures : failures_with_this(id);
  fail(id, held.incarnation, witnesses, failures);
}

bool membership::isolated() const noexcept {
  // With a single other member, its silence is all that can be known.
  return shared_.others() >= 2 && shared_.now - shared_.heard_any >= longest_suspicion();
}

/// As long as nobody was heard, silence was evidence of nothing. Whoever isn't heard again at the
/// first moment has the whole time to be, or the first word of one would condemn all others.
void membership::end_isolation(row_id heard) {
  for (suspicion& s : suspicions_.running()) {
    if (s.subject == heard) continue;  // Its word speaks for it: it came after its suspicion began.
    s.started = shared_.now;
    set_deadline(s);
  }
}

bool membership::accuser_may(const update& news) {
  const row_id by = shared_.table.find(news.accuser);
  const bool valid = by != no_row && shared_.table.at(by).present() &&
                     news.accuser != news.subject_name() &&
                     shared_.table.at(by).subject->epoch == news.accuser_epoch;
  if (!valid) {
    ++shared_.counters.dropped_bad_accuser;
    return false;
  }
  const row_id id = shared_.table.find(news.subject_name());
  if (id == no_row) return true;
  const suspicion* running = suspicions_.find(id);
  if (running && running->accused_by(news.accuser)) return true;  // nothing new
  if (by == shared_.self_row) {  // not an echo of ours, so a forgery
    ++shared_.counters.dropped_bad_accuser;
    return false;
  }
  if (shared_.now >= accusations_until_) {
    accusations_.clear();
    accusations_until_ = shared_.now + 10 * base::duration(shared_.settings.timing.probe_interval);
  }
  const std::uint64_t who = hash_bytes(news.accuser);
  auto found = std::find_if(accusations_.begin(), accusations_.end(),
                            [who](const auto& a) { return a.accuser == who; });
  if (found == accusations_.end()) found = accusations_.insert(found, {who, 0});
  const auto limit =
      std::max<std::size_t>(shared_.settings.suspicions_per_interval, shared_.table.present() / 2);
  if (found->count >= limit) {
    ++shared_.counters.dropped_accuser_limit;
    return false;
  }
  ++found->count;
  return true;
}

}  // namespace lifering::swim
