// The part of membership that takes in gossip: what a claim about another member changes.
#include <algorithm>
#include <utility>

#include "swim/membership.hpp"

namespace lifering::swim {
namespace {

/// Whether an application sees a difference: not where only accusations were contradicted.
bool differs(const record& old, const record& now) noexcept {
  return old.address != now.address || old.weight != now.weight || old.phase != now.phase ||
         old.zone != now.zone || old.service != now.service ||
         old.metadata_hash != now.metadata_hash || old.metadata != now.metadata;
}

}  // namespace

/// A newer record of the same life was taken in.
void membership::tell_of(row_id id, const record& before) {
  if (differs(before, *shared_.table.at(id).subject)) {
    shared_.notify(event_kind::updated, id);
  } else {
    shared_.show_renewed(id);
  }
}

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
    if (verify_(theirs, false)) return;
    return admit(theirs);
  }
  const row& held = shared_.table.at(id);
  const evidence claim{theirs->epoch, theirs->incarnation, member_state::alive};
  if (claim > held.held()) return renew(id, theirs);
  if (held.present() && theirs->epoch == held.subject->epoch &&
      theirs->incarnation > held.subject->incarnation) {
    // A suspicion overtook this record: take its content, keep the suspicion.
    const record_ptr before = held.subject;
    const record_ptr kept = kept_form(theirs, before.get());
    shared_.table.change(id, kept, held.incarnation, held.state, shared_.now, shared_.random);
    view_changed();
    tell_of(id, *before);
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
  gossip_class kind = gossip_class::metadata;
  if (before.state == member_state::failed && !new_life) {
    shared_.merging_until = shared_.now + longest_suspicion();
  }
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
    tell_of(id, *before.subject);
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
  if (!held.present()) return;
  if (news.incarnation < held.incarnation) {
    if (held.state == member_state::alive) remind(from, id);
    return;
  }
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

void membership::remind(row_id of, row_id about) {
  // One that still suspects missed the verdict, the contradiction, or the farewell. Alone it would
  // wait for the longest suspicion, and take one that left, or one that is well, for failed.
  if (of == no_row || !shared_.table.at(of).present()) return;
  if (shared_.now - shared_.table.at(about).since < 2 * spread_time()) return;  // a late copy
  shared_.datagram(shared_.table.at(of).subject->address)
      .updates.push_back(shared_.update_of(about));
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
  const row_id accuser = shared_.table.find(news.accuser);
  if (accuser == no_row || by_itself) {
    ++shared_.counters.dropped_bad_accuser;
    return;
  }
  if (shared_.now < shared_.stale_until) {  // old, perhaps: let the subject contradict it again
    return ask_and_probe(id, news.incarnation);
  }
  if (shared_.settings.parts.lone_accuser_rule && news.witnesses < witnesses_needed(id)) {
    // The verdict of too few: to us it is their suspicion, and we look for ourselves.
    if (!accuser_may(news)) return;
    return suspect(id, news.incarnation, {news.accuser, news.accuser_epoch, false});
  }
  if (shared_.settings.parts.lone_accuser_rule && !shared_.table.at(accuser).present()) {
    // Who is gone from here was elsewhere when it judged, in a part that was cut off from this one:
    // the verdict is the first that is heard of it, before its own coming back.
    return ask_and_probe(id, news.incarnation);
  }
  if (shared_.settings.parts.lone_accuser_rule && held.state == member_state::alive &&
      shared_.now < shared_.merging_until) {
    if (accuser_may(news)) examine(id, news);
    return;
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

// What can be a member at all.

bool membership::can_be_member(const record& life) const noexcept {
  return acceptable(life) && within_window(life, shared_.table.find(life.name));
}

bool membership::introduces(const update& news) const noexcept {
  return news.kind == update_kind::alive && news.subject && is_stranger(*news.subject);
}

bool membership::is_stranger(const record& life) const noexcept {
  if (shared_.is_self(life.name)) return false;
  const row_id id = shared_.table.find(life.name);
  if (id == no_row) return true;
  const row& held = shared_.table.at(id);
  if (life.epoch != held.subject->epoch) return life.epoch > held.subject->epoch;
  return held.state == member_state::failed && life.address != held.subject->address;
}

bool membership::acceptable(const record& theirs) const noexcept {
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
