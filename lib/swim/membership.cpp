#include "swim/membership.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace lifering::swim {

membership::membership(core& shared, std::function<void(row_id)> probe_now,
                       std::function<void(row_id, bool)> on_record,
                       std::function<bool(const record_ptr&)> verify)
    : shared_(shared),
      probe_now_(std::move(probe_now)),
      on_record_(std::move(on_record)),
      verify_(std::move(verify)),
      graves_checked_(shared.now) {}

void membership::apply(const update& news, row_id from) {
  ++shared_.counters.updates_received;
  if (shared_.is_self(news.subject_name())) return apply_about_self(news, from);
  switch (news.kind) {
    case update_kind::alive:
      if (news.subject) apply_alive(news.subject);
      break;
    case update_kind::suspect:
      apply_suspect(news, from);
      break;
    case update_kind::failed:
      apply_failed(news, from);
      break;
    case update_kind::left:
      apply_left(news);
      break;
  }
}

// Claims about others.

void membership::apply_alive(const record_ptr& theirs) {
  if (!acceptable(*theirs)) {
    ++shared_.counters.dropped_bad_record;
    return;
  }
  const row_id id = shared_.table.find(theirs->name);
  if (!within_window(*theirs, id)) {
    ++shared_.counters.dropped_beyond_window;
    return;
  }
  if (id == no_row) {
    if (verify_(theirs)) return;
    return admit(theirs);
  }
  const row& held = shared_.table.at(id);
  const evidence claim{theirs->epoch, theirs->incarnation, member_state::alive};
  if (claim > held.held()) return renew(id, theirs);
  if (held.present() && theirs->epoch == held.subject->epoch &&
      theirs->incarnation > held.subject->incarnation) {
    // A suspicion overtook this record: take its content, keep the suspicion.
    const record_ptr kept = kept_form(theirs, held.subject.get());
    shared_.table.change(id, kept, held.incarnation, held.state, shared_.now, shared_.random);
    view_changed();
    shared_.notify(event_kind::updated, id);
    on_record_(id, false);
  }
}

void membership::admit_proved(const record_ptr& life) {
  if (!acceptable(*life) || shared_.is_self(life->name)) return;
  const row_id id = shared_.table.find(life->name);
  if (!within_window(*life, id)) return;
  if (id == no_row)
    admit(life);
  else
    apply_alive(life);
}

record_ptr membership::kept_form(const record_ptr& theirs, const record* before) const {
  // Large metadata that hasn't changed needn't be pulled again.
  const bool have = theirs->lacks_metadata() && before != nullptr && !before->lacks_metadata() &&
                    before->metadata_hash == theirs->metadata_hash;
  if (have) {
    record whole = *theirs;
    whole.metadata = before->metadata;
    const auto made = std::make_shared<const record>(std::move(whole));
    return shared_.settings.intern ? shared_.settings.intern(made) : made;
  }
  // One that lacks its metadata isn't shared: it is to be made whole.
  const bool share = shared_.settings.intern && !theirs->lacks_metadata();
  return share ? shared_.settings.intern(theirs) : theirs;
}

void membership::take_metadata(row_id id, std::uint64_t hash, const std::string& bytes) {
  const row& held = shared_.table.at(id);
  if (!held.subject || !held.subject->lacks_metadata() || held.subject->metadata_hash != hash) {
    return;
  }
  record whole = *held.subject;
  whole.metadata = bytes;
  hash_metadata(whole);
  if (whole.metadata_hash != hash) {
    ++shared_.counters.dropped_bad_record;
    return;
  }
  auto made = std::make_shared<const record>(std::move(whole));
  shared_.table.complete(id, shared_.settings.intern ? shared_.settings.intern(made) : made);
  ++shared_.counters.metadata_pulled;
  if (held.present()) shared_.notify(event_kind::updated, id);
}

void membership::admit(const record_ptr& theirs) {
  if (shared_.table.present() >= shared_.settings.limits.members) {
    ++shared_.counters.dropped_member_limit;
    return;
  }
  const row_id id = shared_.table.insert(kept_form(theirs, nullptr), theirs->incarnation,
                                         member_state::alive, true, shared_.now, shared_.random);
  ++shared_.counters.updates_new;
  view_changed();
  shared_.notify(event_kind::joined, id);
  shared_.gossip.put(id, gossip_class::join, shared_.update_of(id));
  on_record_(id, true);
}

void membership::renew(row_id id, const record_ptr& theirs) {
  const row before = shared_.table.at(id);
  const bool new_life = theirs->epoch != before.subject->epoch;
  if (!before.present() && shared_.table.present() >= shared_.settings.limits.members) {
    ++shared_.counters.dropped_member_limit;
    return;
  }
  const record_ptr kept = kept_form(theirs, before.subject.get());
  suspicions_.stop(id);
  shared_.table.change(id, kept, kept->incarnation, member_state::alive, shared_.now,
                       shared_.random);
  ++shared_.counters.updates_new;
  view_changed();
  const record& old = *before.subject;
  const bool content_changed =
      old.address != kept->address || old.weight != kept->weight || old.phase != kept->phase ||
      old.zone != kept->zone || old.service != kept->service ||
      old.metadata_hash != kept->metadata_hash || old.metadata != kept->metadata;
  gossip_class kind = gossip_class::metadata;
  if (!before.present()) {
    shared_.notify(event_kind::joined, id);
    kind = gossip_class::refutation;
  } else if (new_life) {
    shared_.notify(event_kind::updated, id);
    kind = gossip_class::refutation;
  } else {
    if (before.state == member_state::suspect) {
      shared_.notify(event_kind::recovered, id);
      kind = gossip_class::refutation;
    }
    if (content_changed) shared_.notify(event_kind::updated, id);
  }
  shared_.gossip.put(id, kind, shared_.update_of(id));
  on_record_(id, false);
}

void membership::apply_suspect(const update& news, row_id from) {
  ++shared_.counters.suspicions_heard;
  const row_id id = shared_.table.find(news.subject_name());
  if (id == no_row || shared_.table.at(id).subject->epoch != news.subject_epoch()) return;
  const row& held = shared_.table.at(id);
  const bool failed = held.state == member_state::failed && news.incarnation <= held.incarnation;
  if (failed || held.state == member_state::left) return remind(from, id);
  if (!held.present() || news.incarnation < held.incarnation) return;
  // It may be as old as our standing still was long, and its contradiction lost in a full buffer.
  // If there is something to it, our own probe of that member will tell.
  if (shared_.now < shared_.stale_until) return probe_now_(id);
  if (news.incarnation - held.incarnation > incarnation_window) {
    ++shared_.counters.dropped_beyond_window;
    return;
  }
  // Last, so that a late copy of a suspicion that was contradicted isn't held against its accuser.
  if (!accuser_may(news)) return;
  suspect(id, news.incarnation, {news.accuser, news.accuser_epoch, news.refused});
}

void membership::remind(row_id of, row_id gone) {
  // One that still suspects missed the verdict, or the farewell. Alone it would wait for the
  // longest suspicion, and take one that left for one that failed.
  if (of == no_row || !shared_.table.at(of).present()) return;
  const base::duration spread = 4 * base::duration(shared_.settings.timing.gossip_interval);
  if (shared_.now - shared_.table.at(gone).since < spread) return;  // a late copy
  shared_.datagram(shared_.table.at(of).subject->address)
      .updates.push_back(shared_.update_of(gone));
}

void membership::apply_failed(const update& news, row_id from) {
  const row_id id = shared_.table.find(news.subject_name());
  if (id == no_row || shared_.table.at(id).subject->epoch != news.subject_epoch()) return;
  const row& held = shared_.table.at(id);
  const evidence claim{news.subject_epoch(), news.incarnation, member_state::failed};
  if (claim <= held.held() || held.state == member_state::left) return;
  if (news.incarnation - held.incarnation > incarnation_window) {
    ++shared_.counters.dropped_beyond_window;
    return;
  }
  if (held.state == member_state::failed) {  // only the recorded incarnation rises
    shared_.table.change(id, nullptr, news.incarnation, member_state::failed, shared_.now,
                         shared_.random);
    return;
  }
  // A member that is held down says so itself, to whoever still counts on it.
  const bool by_itself = news.accuser == news.subject_name();
  if (by_itself && from == id) return fail(id, news.incarnation, witnesses_max, news.failures);
  if (shared_.table.find(news.accuser) == no_row || by_itself) {
    ++shared_.counters.dropped_bad_accuser;
    return;
  }
  if (shared_.now < shared_.stale_until) {  // old, perhaps: let the subject contradict it again
    ask_subject(id, news.incarnation);
    return probe_now_(id);
  }
  if (shared_.settings.parts.lone_accuser_rule && news.witnesses < witnesses_needed(id)) {
    // The verdict of too few: to us it is their suspicion, and we look for ourselves.
    if (!accuser_may(news)) return;
    return suspect(id, news.incarnation, {news.accuser, news.accuser_epoch, false});
  }
  fail(id, news.incarnation, news.witnesses, news.failures);
}

void membership::apply_left(const update& news) {
  const row_id id = shared_.table.find(news.subject_name());
  if (id == no_row || shared_.table.at(id).subject->epoch != news.subject_epoch()) return;
  const row& held = shared_.table.at(id);
  if (held.state == member_state::left) return;
  const bool was_present = held.present();
  suspicions_.stop(id);
  shared_.table.change(id, nullptr, std::max(held.incarnation, news.incarnation),
                       member_state::left, shared_.now, shared_.random);
  ++shared_.counters.updates_new;
  if (was_present) {
    view_changed();
    shared_.notify(event_kind::left, id);
  }
  shared_.gossip.put(id, gossip_class::leave, shared_.update_of(id));
}

bool membership::merge(const view_row& theirs) {
  if (!theirs.subject || theirs.incarnation < theirs.subject->incarnation) {
    ++shared_.counters.dropped_bad_record;
    return false;
  }
  const record& subject = *theirs.subject;
  if (shared_.is_self(subject.name)) {
    merge_about_self(theirs);
    return subject.epoch < shared_.self->epoch || theirs.incarnation < shared_.self->incarnation;
  }
  const row_id id = shared_.table.find(subject.name);
  if (id == no_row || subject.epoch > shared_.table.at(id).subject->epoch) {
    merge_unheld(theirs, id);
    return false;
  }
  const row& held = shared_.table.at(id);
  if (subject.epoch < held.subject->epoch) return true;
  // The record of one that is gone is no reason to bring it back first.
  const bool here = theirs.state == member_state::alive || theirs.state == member_state::suspect;
  if (subject.incarnation > held.subject->incarnation &&
      (here || (theirs.state == member_state::failed && held.present()))) {
    apply_alive(theirs.subject);
  }
  if (theirs.state == member_state::left) {
    update news;
    news.kind = update_kind::left;
    news.subject = theirs.subject;
    news.incarnation = theirs.incarnation;
    apply_left(news);
    return false;
  }
  const evidence claim{subject.epoch, theirs.incarnation, theirs.state};
  const row& now_held = shared_.table.at(id);
  if (theirs.state != member_state::alive && now_held.present() && claim > now_held.held()) {
    ask_subject(id, theirs.incarnation);
  }
  return claim < now_held.held();
}

void membership::merge_about_self(const view_row& theirs) {
  update news;
  news.subject = theirs.subject;
  news.incarnation = theirs.incarnation;
  news.failures = theirs.failures;
  switch (theirs.state) {
    case member_state::alive:
      news.kind = update_kind::alive;
      break;
    case member_state::suspect:
      news.kind = update_kind::suspect;
      break;
    case member_state::failed:
      news.kind = update_kind::failed;
      break;
    case member_state::left:
      news.kind = update_kind::left;
      break;
  }
  apply_about_self(news, no_row);
}

void membership::merge_unheld(const view_row& theirs, row_id id) {
  const record& subject = *theirs.subject;
  if (theirs.state == member_state::alive || theirs.state == member_state::suspect) {
    return apply_alive(theirs.subject);
  }
  if (!acceptable(subject) || !within_window(subject, id)) {
    ++shared_.counters.dropped_bad_record;
    return;
  }
  if (id == no_row) return dig_grave(theirs);
  // A newer life that is gone already: the older one is gone with it.
  const bool was_present = shared_.table.at(id).present();
  suspicions_.stop(id);
  shared_.gossip.remove(id);
  shared_.table.change(id, theirs.subject, theirs.incarnation, theirs.state, shared_.now,
                       shared_.random);
  if (was_present) {
    view_changed();
    shared_.notify(theirs.state == member_state::left ? event_kind::left : event_kind::failed, id);
  }
}

void membership::dig_grave(const view_row& theirs) {
  // It ends when it does at those who have told us, else it would go round for ever.
  const base::duration age = std::chrono::seconds(theirs.age_seconds);
  if (age >= base::duration(shared_.settings.timing.grave_time)) return;
  const row_id id = shared_.table.insert(kept_form(theirs.subject, nullptr), theirs.incarnation,
                                         theirs.state, true, shared_.now - age, shared_.random);
  shared_.table.mark_failures(id, theirs.failures, shared_.now - age);
}

void membership::ask_subject(row_id id, std::uint64_t incarnation) {
  // Tell the subject what is said of it, so that it raises its incarnation above the claim. The
  // claim is bounded by the window, else one bad row could make it burn its incarnations.
  const row& held = shared_.table.at(id);
  if (incarnation < held.incarnation || incarnation - held.incarnation > incarnation_window) return;
  packet& ask = shared_.datagram(held.subject->address);
  update claim;
  claim.kind = update_kind::suspect;
  claim.subject = held.subject;
  claim.incarnation = incarnation;
  claim.accuser = shared_.self->name;
  claim.accuser_epoch = shared_.self->epoch;
  ask.updates.push_back(std::move(claim));
  ask.ask(shared_.next_sequence(), held.subject->name, held.subject->epoch);
  if (size_bound(ask) <= shared_.settings.datagram_budget) return;
  ask.body = std::monostate{};  // two long names; the claim alone asks for a contradiction as well
}

// Suspicion and failure.

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

void membership::spread_suspicion(row_id id, const accuser& by) {
  if (shared_.gossip.add_accuser(id, by.name, by.epoch, by.refused)) return;
  // The first, or the earlier accusers have been told of as often as they may.
  update news = shared_.update_of(id);
  news.accuser = by.name;
  news.accuser_epoch = by.epoch;
  news.refused = by.refused;
  shared_.gossip.put(id, gossip_class::suspicion, std::move(news));
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
  shared_.gossip.put(id, gossip_class::failure, std::move(news));
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
  if (!shared_.settings.parts.local_health_suspicion) {
    s.deadline = s.started + shortest;
  } else if (shared_.settings.parts.transport_evidence && s.refusals() >= needed) {
    // The host itself told enough of us that the process is gone.
    s.deadline = s.started + shortest / 4;
  } else {
    s.deadline = s.started + suspicion_timeout(shortest, longest, confirmations, expected);
  }
  s.deadline = std::max(s.deadline, shared_.judging_from);
}

void membership::suspicion_due(suspicion& s) {
  const row_id id = s.subject;
  const row& held = shared_.table.at(id);
  LIFERING_CHECK(held.state == member_state::suspect);
  if (shared_.now < shared_.judging_from) {
    s.deadline = shared_.judging_from;
    return;
  }
  const auto witnesses = static_cast<std::uint32_t>(s.accusers.size());
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
      s.deadline = latest;
      return;
    }
  }
  ++shared_.counters.failures_declared;
  fail(id, held.incarnation, witnesses, failures_with_this(id));
}

bool membership::isolated() const noexcept {
  // With a single other member, its silence is all that can be known.
  return shared_.others() >= 2 && shared_.now - shared_.heard_any >= longest_suspicion();
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

// Packets' sender parts.

void membership::heard_from(const sender& from, row_id id) {
  const row& held = shared_.table.at(id);
  if (held.subject->epoch != from.epoch) return;
  if (from.incarnation > held.incarnation &&
      from.incarnation - held.incarnation > incarnation_window) {
    return;
  }
  const bool agrees = from.ring_fingerprint == shared_.ring_fingerprint;
  if (!agrees) shared_.disagreed = shared_.now;
  shared_.table.mark_heard(id, shared_.now, agrees);
  if (held.present()) {
    shared_.heard_any = shared_.now;
    told_isolated_ = false;
  }
}

// Time.

void membership::advance() {
  while (suspicion* s = suspicions_.due(shared_.now)) {
    if (shared_.phase != life_phase::running) {
      s->deadline = shared_.now + longest_suspicion();
    } else {
      suspicion_due(*s);
    }
  }
  look_after_hold();
  expire_graves();
}

base::time_point membership::next_deadline() const noexcept {
  return std::min(suspicions_.next_deadline(), shared_.hold.ends());
}

void membership::after_stall(base::duration by) {
  suspicions_.postpone(by, shared_.now);
}

void membership::expire_graves() {
  if (shared_.now - graves_checked_ < std::chrono::milliseconds(100)) return;
  graves_checked_ = shared_.now;
  const base::duration keep = shared_.settings.timing.grave_time;
  for (;;) {
    const row_id oldest = shared_.table.oldest_grave();
    if (oldest == no_row) return;
    const bool expired = shared_.now - shared_.table.at(oldest).since >= keep;
    if (!expired && shared_.table.graves() <= shared_.settings.limits.graves) return;
    if (oldest == shared_.self_row) return;
    if (!expired) ++shared_.counters.graves_evicted;
    shared_.gossip.remove(oldest);
    shared_.table.erase(oldest);
  }
}

bool membership::forget(std::string_view name) {
  const row_id id = shared_.table.find(name);
  if (id == no_row || id == shared_.self_row) return false;
  const row& held = shared_.table.at(id);
  if (held.state != member_state::failed) return false;
  update news = shared_.update_of(id);
  news.kind = update_kind::left;
  apply_left(news);
  return true;
}

// What can be a member at all.

bool membership::acceptable(const record& theirs) const {
  return !theirs.name.empty() && theirs.name.size() <= name_max && theirs.epoch != 0 &&
         theirs.incarnation != 0 && theirs.address.port != 0 && !theirs.address.is_unspecified() &&
         !theirs.address.is_multicast() && theirs.zone.size() <= zone_max &&
         theirs.service.size() <= service_max && theirs.metadata.size() <= metadata_max;
}

bool membership::within_window(const record& theirs, row_id held) const noexcept {
  if (held == no_row) {
    return generation_of(theirs.epoch) <= generation_window &&
           theirs.incarnation <= incarnation_window;
  }
  const row& known = shared_.table.at(held);
  if (theirs.epoch > known.subject->epoch) {
    return generation_of(theirs.epoch) - generation_of(known.subject->epoch) <= generation_window &&
           theirs.incarnation <= incarnation_window;
  }
  return theirs.incarnation <= known.incarnation ||
         theirs.incarnation - known.incarnation <= incarnation_window;
}

}  // namespace lifering::swim
