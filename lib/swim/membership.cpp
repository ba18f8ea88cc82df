// What membership is asked and when: its rules are in claims.cpp, other_views.cpp, verdicts.cpp and
// own_life.cpp.
#include "swim/membership.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace lifering::swim {

membership::membership(core& shared, std::function<void(row_id)> probe_now,
                       std::function<void(row_id, bool)> on_record,
                       std::function<bool(const record_ptr&, bool)> verify)
    : shared_(shared),
      probe_now_(std::move(probe_now)),
      on_record_(std::move(on_record)),
      verify_(std::move(verify)),
      graves_checked_(shared.now) {}

void membership::apply(const update& news, row_id from, bool by_itself) {
  ++shared_.counters.updates_received;
  if (shared_.is_self(news.subject_name())) return apply_about_self(news, from);
  switch (news.kind) {
    case update_kind::alive:
      if (!news.subject) break;
      // What a member tells of others it has learned of those who asked them. What a stranger tells
      // of itself may be wrong: many don't know where they are reached.
      if (by_itself && is_stranger(*news.subject) && can_be_member(*news.subject)) {
        if (verify_(news.subject, true)) break;
        return admit_proved(news.subject);
      }
      apply_alive(news.subject);
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

// Packets' sender parts.

void membership::heard_from(const sender& from, row_id id) {
  const row& held = shared_.table.at(id);
  if (held.subject->epoch != from.epoch) return;
  if (from.incarnation > held.incarnation &&
      from.incarnation - held.incarnation > incarnation_window) {
    return;
  }
  const bool agrees =
      from.speaks_of_view() ? from.ring_fingerprint == shared_.ring_fingerprint : held.agrees;
  if (!agrees) shared_.disagreed = shared_.now;
  shared_.table.mark_heard(id, shared_.now, agrees);
  if (held.present()) {
    if (isolated()) end_isolation(id);
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

}  // namespace lifering::swim
