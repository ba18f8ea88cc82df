// The part of membership that takes in rows of other members' views. What they hold is second-hand:
// of who is present here they are asked, not believed.
#include <algorithm>
#include <utility>

#include "swim/membership.hpp"

namespace lifering::swim {

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
  if (subject.incarnation > held.subject->incarnation &&
      (theirs.present() || (theirs.state == member_state::failed && held.present()))) {
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
    // Who learned late of one that is gone would believe in it until its turn comes.
    if (theirs.state == member_state::failed) probe_now_(id);
  }
  return claim < now_held.held();
}

void membership::merge_unvouched(const view_row& theirs) {
  if (!theirs.present() || !is_stranger(*theirs.subject)) {
    merge(theirs);
  } else if (can_be_member(*theirs.subject)) {
    if (!verify_(theirs.subject, true)) admit_proved(theirs.subject);
  } else {
    ++shared_.counters.dropped_bad_record;
  }
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
  if (theirs.present()) {
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

}  // namespace lifering::swim
