#include "swim/machine.hpp"

#include <algorithm>

namespace lifering::swim {

base::time_point machine::vigil() const noexcept {
  // A pause is seen by what was due in it. While somebody is being judged there must be something:
  // else a process that was stopped would wake to a verdict that seems to be in time.
  const bool judging = members_.suspicions() > 0 || prober_.busy();
  if (!judging || !core_.settings.parts.stall_detector) return base::never;
  return core_.now + lateness_allowed();
}

base::duration machine::lateness_allowed() const noexcept {
  return base::duration(core_.settings.timing.probe_timeout) / 4;
}

void machine::notice_lateness() {
  const auto& timing = core_.settings.timing;
  if (!core_.settings.parts.stall_detector || core_.phase != life_phase::running ||
      planned_ == base::never) {
    return;
  }
  const base::duration late = core_.now - planned_;
  const base::duration stall = 2 * base::duration(timing.probe_interval);
  // Who slept for hours isn't behind for as many more.
  if (late >= lateness_allowed()) core_.behind_until = core_.now + 2 * std::min(late, stall);
  if (late >= stall) {
    wake_from_stall(late);
  } else if (late >= lateness_allowed()) {
    catch_up(late);
  }
}

void machine::catch_up(base::duration late) {
  // Time in which we didn't run is none in which others failed to answer: what they said may wait
  // in the socket's buffer. So everything that judges somebody is due that much later, and by a
  // little more, to be read before it is missed: so little that one who runs by moments alone
  // still comes to a verdict.
  ++core_.counters.late_wakes;
  const base::duration grace = lateness_allowed() / 2;
  prober_.postpone(late + grace);
  members_.after_stall(late + grace);
  core_.judging_from = std::max(core_.judging_from, core_.now + grace);
}

void machine::wake_from_stall(base::duration late) {
  // We stood still: what went unanswered says nothing about others. So forget what is under way,
  // accuse nobody for an interval, and believe no accusation that may have waited in a buffer for
  // as long as we stood still. Others may have given us up, if it was for long enough: then
  // contradict first. A doubt that can't have become a verdict waits in our buffer, and is
  // contradicted as it is read; if all who run late told all of it, they would run later yet.
  ++core_.counters.stalls;
  const base::duration interval = core_.settings.timing.probe_interval;
  prober_.abandon();
  core_.heard_any = core_.now;
  core_.judging_from = core_.now + interval;
  core_.stale_until = core_.now + interval;
  const base::duration first = core_.settings.timing.hold_down;
  const bool failed_perhaps = late >= members_.shortest_suspicion();
  const bool again = failed_perhaps && core_.hold.stalled_lately(core_.now, first);
  if (failed_perhaps) core_.hold.note_stall(core_.now);
  members_.after_stall(late + members_.shortest_suspicion());
  members_.relapse();
  if (late >= base::duration(core_.settings.timing.grave_time)) {
    core_.outdated = true;
    core_.gossip.clear();
  }
  // Who stands still again and again may be held down for it, and asks first.
  if (again) core_.asking_until = core_.stale_until;
  if (failed_perhaps && !again && !core_.hold.active())
    members_.publish(*core_.self, gossip_class::refutation);
  reconciler_.after_stall(failed_perhaps);
}

void machine::on_packet(const packet_received& input) {
  const auto& [from, content, is_proven] = input;
  const sender& by = content.from;
  if (by.placement != core_.settings.placement) {
    ++core_.counters.dropped_wrong_placement;
    return;
  }
  if (by.name.empty() || by.epoch == 0) {
    ++core_.counters.dropped_bad_sender;
    return;
  }
  row_id row = no_row;
  if (core_.is_self(by.name)) {
    if (by.epoch == core_.self->epoch) {
      ++core_.counters.dropped_from_self;
      return;
    }
  } else {
    row = core_.table.find(by.name);
  }
  if (row != no_row) {
    members_.heard_from(by, row);
    if (core_.table.at(row).subject->epoch > by.epoch) {
      // A new process whose epoch isn't settled yet may be asked all the same.
      const auto* answer = std::get_if<ack>(&content.body);
      if (answer != nullptr && streams_.on_ack(answer->sequence, by)) return;
      // An older life that still speaks: let it know, and don't listen to it.
      core_.datagram(from).updates.push_back(core_.update_of(row));
      return;
    }
  }
  // Sent to whom we have asked for it alone: so that is where we are heard.
  if (std::holds_alternative<view_summary>(content.body)) answers_from_ = from;
  bool is_believed = is_proven;
  for (const update& news : content.updates) {
    const bool by_itself = news.subject_name() == by.name;
    // The news before this one may have been that of its own arrival.
    is_believed = is_believed || holds(by);
    if (!by_itself && !is_believed && members_.introduces(news)) {
      hear_of(news.subject);
      continue;
    }
    members_.apply(news, row, by_itself);
    if (core_.phase == life_phase::superseded) return;
  }
  answers_from_ = {};
  if (row == no_row) row = core_.is_self(by.name) ? no_row : core_.table.find(by.name);
  // A newer life of a member is no member before it is admitted.
  if (row != no_row && core_.table.at(row).subject->epoch != by.epoch) row = no_row;
  for (const broadcast& heard : content.broadcasts)
    broadcaster_.on_broadcast(heard);
  dispatch(from, content, row);
}

/// Whether that life is one of those known here, present or not.
bool machine::holds(const sender& life) const {
  const row_id id = core_.table.find(life.name);
  return id != no_row && core_.table.at(id).subject->epoch == life.epoch;
}

/// Somebody who is no member, and has no key, tells of a life that is none either. He could fill
/// the table with such that he makes up; but where a cluster forms, many a teller is about to be a
/// member. So that life is asked itself, while few are.
void machine::hear_of(const record_ptr& life) {
  if (!newcomers_.has_room_for_hearsay() || !members_.can_be_member(*life)) {
    ++core_.counters.dropped_bad_sender;
  } else if (!streams_.asks(*life)) {
    newcomers_.ask(life, false);
  }
}

bool machine::must_prove(const record_ptr& life, bool by_itself) {
  // Who answers what we sent to where it says that it is, has proved it.
  const bool answers = by_itself && life->address == answers_from_;
  if (answers && contacts_.has_knocked_at(answers_from_)) return false;
  if (!by_itself && !newcomers_.must_prove()) return false;
  if (!streams_.asks(*life)) newcomers_.ask(life, by_itself);
  return true;
}

void machine::on_ack(const sender& by, std::uint64_t sequence) {
  if (farewell_.on_ack(sequence) || streams_.on_ack(sequence, by)) return;
  if (const record_ptr proved = newcomers_.on_ack(sequence, by)) {
    members_.admit_proved(proved);
    const row_id row = core_.table.find(by.name);
    if (row != no_row && core_.phase == life_phase::running) {
      reconciler_.welcome(row, by.known_members);
    }
    return;
  }
  prober_.on_ack(sequence);
}

void machine::dispatch(const endpoint& from, const packet& content, row_id by) {
  if (const auto* asked = std::get_if<ping>(&content.body)) {
    const bool ours = core_.is_self(asked->target) && asked->target_epoch == core_.self->epoch;
    if (by == no_row && ours) streams_.on_call(from, content.from);
    prober_.on_ping(from, content.from, by, *asked);
    compare_views(content.from, by);
  } else if (const auto* request = std::get_if<ping_request>(&content.body)) {
    prober_.on_ping_request(from, by, *request);
  } else if (const auto* answer = std::get_if<ack>(&content.body)) {
    on_ack(content.from, answer->sequence);
    compare_views(content.from, by);
  } else if (const auto* refused = std::get_if<nack>(&content.body)) {
    prober_.on_nack(refused->sequence);
  } else if (const auto* message = std::get_if<user_message>(&content.body)) {
    if (message->sequence != hash_bytes(core_.self->name)) {
      ++core_.counters.dropped_not_for_us;
    } else if (by != no_row) {
      core_.out->push(user_received{content.from.name, message->payload, message_kind::direct});
    }
  } else if (by != no_row && core_.phase == life_phase::running) {
    // Views are compared with members only.
    if (const auto* compare = std::get_if<view_compare>(&content.body)) {
      reconciler_.on_compare(by, content.from.known_members, *compare);
    } else if (const auto* summary = std::get_if<view_summary>(&content.body)) {
      reconciler_.on_summary(by, *summary);
    } else if (const auto* pull = std::get_if<broadcast_pull>(&content.body)) {
      broadcaster_.on_pull(by, *pull);
    } else if (const auto* delta = std::get_if<view_delta>(&content.body)) {
      reconciler_.on_delta(by, *delta);
      compare_views(content.from, by);
    }
  }
}

void machine::compare_views(const sender& theirs, row_id by) {
  if (by == no_row || core_.phase != life_phase::running) return;
  if (!theirs.speaks_of_view()) return;
  const row& held = core_.table.at(by);
  if (!held.present() || held.subject->epoch != theirs.epoch) return;
  if (theirs.view_digest == core_.table.digest()) {
    contacts_.on_agreement();
    reconciler_.digest_agrees();
  } else {
    reconciler_.digest_differs(by, theirs.known_members);
  }
}

}  // namespace lifering::swim
