// The part of membership that concerns ourselves: contradicting claims, starting a newer life when
// an older one of our name is remembered, stopping when a newer one exists.
#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "swim/membership.hpp"

namespace lifering::swim {

void membership::apply_about_self(const update& news, row_id from) {
  const std::uint64_t epoch = news.subject_epoch();
  if (shared_.phase != life_phase::running || epoch < shared_.self->epoch) return;
  if (news.kind == update_kind::alive) {
    if (news.subject) alive_about_self(*news.subject);
    return;
  }
  if (epoch > shared_.self->epoch) return grave_of_newer(news);
  if (news.kind == update_kind::left) return outgrow(epoch);  // final for this life
  if (shared_.hold.active()) {
    if (news.kind == update_kind::suspect) confirm_absence(from);
    return;
  }
  // We have asked what is held of us; an accusation may be older than the verdict.
  if (news.kind == update_kind::suspect && shared_.now < shared_.asking_until) return;
  const bool flaps = news.kind == update_kind::failed && news.failures >= 2 &&
                     shared_.settings.timing.hold_down.count() > 0;
  if (flaps) return stay_away(news);
  if (news.incarnation < shared_.self->incarnation) return contradict_again(from);
  refute(news.incarnation);
}

void membership::contradict_again(row_id to) {
  // It holds what was contradicted: news is told a bounded number of times, and at half of all
  // packets lost, one contradiction in some hundreds reaches nobody. The first moment is left to
  // gossip, which is still spreading it then.
  if (to == no_row || shared_.now - refuted_ < spread_time()) return;
  shared_.datagram(shared_.table.at(to).subject->address)
      .updates.push_back(shared_.update_of(shared_.self_row));
}

// Being held down: see hold_down.hpp.

void membership::stay_away(const update& verdict) {
  if (verdict.incarnation < shared_.self->incarnation) return;  // contradicted already
  if (verdict.incarnation - shared_.self->incarnation > incarnation_window) {
    ++shared_.counters.dropped_beyond_window;
    return;
  }
  ++shared_.counters.hold_downs;
  shared_.hold.begin(verdict.failures, shared_.now, shared_.settings.timing.hold_down);
  shared_.table.change(shared_.self_row, nullptr, verdict.incarnation, member_state::failed,
                       shared_.now, shared_.random);
  shared_.table.mark_failures(shared_.self_row, verdict.failures, shared_.now);
  view_changed();
  shared_.notify(event_kind::failed, shared_.self_row);
  shared_.gossip.put(shared_.self_row, gossip_class::failure, shared_.update_of(shared_.self_row));
}

void membership::confirm_absence(row_id to) {
  // It missed the verdict, and would wait in vain for us to contradict it.
  if (to == no_row) return;
  shared_.datagram(shared_.table.at(to).subject->address)
      .updates.push_back(shared_.update_of(shared_.self_row));
}

void membership::look_after_hold() {
  if (!shared_.hold.active() || shared_.phase != life_phase::running) return;
  // Nobody probes us meanwhile, so it is for ourselves to tell whether we are well: others answer.
  if (shared_.others() > 0 && shared_.now - shared_.heard_any >= longest_suspicion())
    relapse();
  else
    shared_.hold.well();
  if (shared_.hold.over(shared_.now)) come_back();
}

void membership::relapse() {
  if (shared_.hold.active()) shared_.hold.relapse(shared_.now, shared_.settings.timing.hold_down);
}

void membership::come_back() {
  shared_.hold.end();
  record changed = *shared_.self;
  changed.incarnation = shared_.table.at(shared_.self_row).incarnation;
  publish(std::move(changed), gossip_class::refutation);
  shared_.notify(event_kind::joined, shared_.self_row);
}

void membership::grave_of_newer(const update& news) {
  // A life of our name that counts as newer is in doubt or gone. If it was there before us, then it
  // only seems newer, since the cluster that remembers it was out of reach when we started: ours
  // must outgrow it. If it replaced us while we slept, we are the one to stop.
  const std::uint64_t epoch = news.subject_epoch();
  const bool fresh =
      !shared_.settled ||
      shared_.now - shared_.started < 120 * base::duration(shared_.settings.timing.probe_interval);
  // Whoever replaces a life that is remembered takes a later generation.
  const bool no_replacement = generation_of(epoch) == generation_of(shared_.self->epoch);
  const bool same_address = news.subject && news.subject->address == shared_.self->address;
  if (fresh || no_replacement || same_address) return outgrow(epoch);
  if (news.kind == update_kind::suspect) return;  // its record will tell
  if (news.subject) return supersede(*news.subject);
  record gone;
  gone.name = shared_.self->name;
  gone.epoch = epoch;
  gone.incarnation = news.incarnation;
  supersede(gone);
}

void membership::alive_about_self(const record& theirs) {
  if (theirs.epoch == shared_.self->epoch) {
    const bool foreign =
        theirs.incarnation > shared_.self->incarnation ||
        (theirs.incarnation == shared_.self->incarnation && theirs != *shared_.self);
    if (foreign && !shared_.hold.active()) refute(theirs.incarnation);
    return;
  }
  if (generation_of(theirs.epoch) - generation_of(shared_.self->epoch) > generation_window) {
    ++shared_.counters.dropped_beyond_window;
    return;
  }
  // We hold the socket at our address, so a newer life there is one before ours.
  if (!shared_.settled || theirs.address == shared_.self->address) return outgrow(theirs.epoch);
  supersede(theirs);
}

void membership::refute(std::uint64_t accused_incarnation) {
  if (accused_incarnation < shared_.self->incarnation) return;  // contradicted already
  if (accused_incarnation - shared_.self->incarnation > incarnation_window) {
    ++shared_.counters.dropped_beyond_window;
    return;
  }
  ++shared_.counters.refutations;
  refuted_ = shared_.now;
  shared_.health.worse(1);
  record changed = *shared_.self;
  changed.incarnation = accused_incarnation;
  publish(std::move(changed), gossip_class::refutation);
}

void membership::publish(record changed, gossip_class kind) {
  const row& own = shared_.table.at(shared_.self_row);
  const bool held = shared_.hold.active();
  if (held) changed.incarnation = std::max(changed.incarnation, own.incarnation);
  ++changed.incarnation;
  hash_metadata(changed);
  record_ptr kept = std::make_shared<const record>(std::move(changed));
  if (shared_.settings.intern) kept = shared_.settings.intern(kept);
  shared_.self = kept;
  shared_.table.change(shared_.self_row, kept, kept->incarnation,
                       held ? member_state::failed : member_state::alive, shared_.now,
                       shared_.random);
  if (held) return;  // told when we are back
  view_changed();
  shared_.gossip.put(shared_.self_row, kind, shared_.update_of(shared_.self_row));
}

void membership::outgrow(std::uint64_t remembered) {
  if (remembered < shared_.self->epoch) return;
  if (generation_of(remembered) - generation_of(shared_.self->epoch) > generation_window) {
    ++shared_.counters.dropped_beyond_window;
    return;
  }
  record next = *shared_.self;
  next.epoch = make_epoch(generation_of(remembered) + 1, shared_.random.next());
  next.incarnation = 0;
  const bool held = shared_.hold.active();  // a new life isn't
  shared_.hold.end();
  publish(std::move(next), gossip_class::refutation);
  if (held) shared_.notify(event_kind::joined, shared_.self_row);
}

void membership::be_reborn() {
  shared_.phase = life_phase::running;
  shared_.settled = false;
  // We heard nobody since the goodbye, which says nothing about anybody.
  after_stall(shared_.now - shared_.table.at(shared_.self_row).since + shortest_suspicion());
  shared_.heard_any = shared_.now;
  shared_.judging_from = shared_.now + base::duration(shared_.settings.timing.probe_interval);
  outgrow(shared_.self->epoch);
}

void membership::supersede(const record& newer) {
  shared_.phase = life_phase::superseded;
  record_ptr theirs = std::make_shared<const record>(newer);
  shared_.out->push(member_changed{event_kind::superseded, std::move(theirs), newer.incarnation,
                                   member_state::alive});
}

void membership::say_goodbye() {
  LIFERING_CHECK(shared_.phase == life_phase::running);
  shared_.phase = life_phase::leaving;
  shared_.hold.end();
  const std::uint64_t last =
      std::max(shared_.self->incarnation, shared_.table.at(shared_.self_row).incarnation);
  shared_.table.change(shared_.self_row, nullptr, last, member_state::left, shared_.now,
                       shared_.random);
  view_changed();
  shared_.gossip.put(shared_.self_row, gossip_class::leave, shared_.update_of(shared_.self_row));
}

}  // namespace lifering::swim
