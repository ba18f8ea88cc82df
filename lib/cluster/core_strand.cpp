// What happens on the strand: the machine's effects become batches that are published.
#include <algorithm>
#include <asio/post.hpp>
#include <chrono>
#include <utility>

#include "cluster/core.hpp"
#include "cluster/steady.hpp"
#include "cluster/text.hpp"
#include "swim/record.hpp"

namespace lifering::cluster_detail {
namespace {

using std::chrono::system_clock;

ring_agreement to_agreement(const swim::protocol::peer_agreement& from, std::uint64_t fingerprint,
                            base::time_point now) {
  ring_agreement result{fingerprint, from.agreeing, from.differing, from.unheard, std::nullopt};
  if (from.differing == 0 && from.since <= now) {
    result.agreed_for = std::chrono::duration_cast<std::chrono::milliseconds>(now - from.since);
  }
  return result;
}

/// Comings and goings are what people look for in a log.
log_level level_of(event_kind kind) {
  switch (kind) {
    case event_kind::updated:
    case event_kind::suspected:
    case event_kind::recovered:
      return log_level::debug;
    case event_kind::superseded:
      return log_level::error;
    case event_kind::failed:
    case event_kind::isolated:
      return log_level::warning;
    default:
      return log_level::info;
  }
}

std::string describe(event_kind kind, const member& subject) {
  switch (kind) {
    case event_kind::superseded:
      return "Another process runs under our name, at " + subject.address.to_string() +
             ", and its life counts as the newer one; this member stops.";
    case event_kind::isolated:
      return "Nobody has been heard for so long that this member judges no other.";
    default:
      return quoted(subject.name) + " at " + subject.address.to_string() + ": " +
             std::string(to_string(kind)) + ".";
  }
}

std::string reasons_of(const swim::completed& effect) {
  const bool both = !effect.lookups.empty() && !effect.detail.empty();
  return effect.lookups + (both ? "; " : "") + effect.detail;
}

}  // namespace

void core::cancel(swim::command_id target) {
  if (unavailable()) return;
  driver_->command(swim::cancel_command{target});
  // What was sent can't be taken back; but nobody waits for it any more.
  const auto found = pending_.find(target);
  if (found == pending_.end() || found->second.kind != command_kind::send) return;
  const auto done = std::move(found->second.done);
  pending_.erase(found);
  done->complete(errc::canceled, 0, "");
}

void core::on_batch(std::span<const swim::effect> effects) {
  batch next;
  std::vector<message> heard;
  for (const auto& effect : effects) {
    if (const auto* change = std::get_if<swim::member_changed>(&effect)) {
      on_change(*change, next);
    } else if (const auto* same = std::get_if<swim::member_renewed>(&effect)) {
      roster_.apply(swim::to_member(same->subject, same->incarnation, same->state));
    } else if (const auto* done = std::get_if<swim::completed>(&effect)) {
      on_completed(*done, next);
    } else if (const auto* said = std::get_if<swim::user_received>(&effect)) {
      heard.push_back({said->from, said->kind, said->payload, system_clock::now()});
    }
  }
  const bool superseded = std::any_of(
      next.changes.begin(), next.changes.end(),
      [](const member_change& change) { return change.kind == event_kind::superseded; });
  publisher_->submit(finished_batch(std::move(next)));
  for (auto& each : heard)
    dispatcher_->push(std::move(each));
  refresh();
  if (superseded) begin_stop();
}

void core::on_change(const swim::member_changed& effect, batch& next) {
  auto after = swim::to_member(effect.subject, effect.incarnation, effect.state);
  if (log_.enabled(level_of(effect.kind))) {
    log_(level_of(effect.kind), describe(effect.kind, *after));
  }
  // Events about ourselves that aren't about our record change no view.
  const bool is_state =
      effect.kind != event_kind::superseded && effect.kind != event_kind::isolated;
  const auto before = is_state ? roster_.apply(after) : std::nullopt;
  next.changes.push_back({effect.kind, system_clock::now(), before, std::move(after)});
}

void core::on_completed(const swim::completed& effect, batch& next) {
  const auto found = pending_.find(effect.command);
  if (found == pending_.end()) return;
  if (found->second.kind == command_kind::join) log_join(effect, found->second.has_seeds);
  next.completions.push_back(
      {std::move(found->second.done), effect.error, effect.count, reasons_of(effect)});
  pending_.erase(found);
}

void core::log_join(const swim::completed& effect, bool has_seeds) {
  if (!effect.error && effect.count > 0) return log_(log_level::info, "Joined.");
  // The first member, as it should be; or one that advertises the address of a seed by mistake.
  if (!effect.error) {
    const std::string_view why = has_seeds ? "Every seed is ourselves" : "No seed was given";
    return log_(log_level::info, std::string(why) + ". Serving alone.");
  }
  if (effect.error == errc::canceled) return;
  const std::string_view going_on = ". Serving alone and trying on.";
  if (effect.error == errc::no_seed_answered) {
    // Why a seed could not be found has been said where it happened.
    const std::string why = effect.detail.empty() ? "" : " (" + effect.detail + ')';
    return log_(log_level::warning, "No seed has answered yet" + why + std::string(going_on));
  }
  const std::string reasons = reasons_of(effect);
  const std::string why = reasons.empty() ? effect.error.message() : reasons;
  log_(log_level::warning, "Could not join: " + why + std::string(going_on));
}

/// Brings our own row in line with the machine's: it changes without an event when we refute a
/// suspicion, learn our epoch, leave, or begin another life.
batch core::finished_batch(batch next) {
  const auto& machine = driver_->protocol();
  const auto& record = machine.self();
  swim::view_row row;
  const auto state = machine.find_member(record->name, row) ? row.state : member_state::left;
  const auto now = swim::to_member(record, record->incarnation, state);
  {
    const std::lock_guard lock(mutex_);
    if (self_ != *now) {
      self_ = *now;
      const auto others_changes = roster_.ring_changes();
      roster_.apply(now);
      next.urgent = roster_.ring_changes() != others_changes;
    }
  }
  next.members = roster_.publish();
  next.ring_changes = roster_.take_ring_changes();
  const std::lock_guard lock(mutex_);
  latest_ = member_list(next.members);
  return next;
}

void core::sync_self() {
  const auto before = roster_.publish();
  batch next = finished_batch({});
  if (next.members != before) publisher_->submit(std::move(next));
}

void core::refresh() {
  const auto& machine = driver_->protocol();
  numbers fresh;
  fresh.machine = machine.stats();
  fresh.transport = driver_->count();
  fresh.transport_now = driver_->gauges();
  fresh.view_digest = machine.view_digest();
  fresh.local_health = machine.local_health();
  fresh.machine_now = machine.gauges();
  fresh.sick = health_.sick() ? 1 : 0;
  const auto now = steady_now();
  fresh.agreement = to_agreement(machine.agreement(now), publisher_->ring().fingerprint(), now);
  bool graves_changed = false;
  {
    const std::lock_guard lock(mutex_);
    numbers_ = fresh;
    graves_changed = graves_.size() != machine.graves();
  }
  if (graves_changed) refresh_graves();
}

/// Looks at the whole table, so not at every turn.
void core::refresh_graves() {
  std::vector<swim::view_row> fresh;
  const auto& machine = driver_->protocol();
  const auto keep = [&](const swim::record_ptr& subject, std::uint64_t incarnation,
                        member_state state) {
    const bool gone = state == member_state::failed || state == member_state::left;
    if (gone && subject->name != options_.name) fresh.push_back({subject, incarnation, state});
  };
  if (machine.graves() > 0) machine.for_each_member(keep);
  const std::lock_guard lock(mutex_);
  graves_ = std::move(fresh);
}

void core::refresh_each_second() {
  sync_phase();
  sync_self();
  refresh();
  refresh_graves();
  // On a tenth of a second, so that members of one machine wake it together.
  const auto next =
      base::round_up(steady_now() + std::chrono::seconds(1), std::chrono::milliseconds(100));
  timers_->refresh.expires_at(steady_time(next));
  timers_->refresh.async_wait([weak = weak_from_this()](std::error_code error) {
    const auto self = weak.lock();
    if (!error && self && !self->unavailable()) self->refresh_each_second();
  });
}

numbers core::take_numbers() const {
  numbers result;
  {
    const std::lock_guard lock(mutex_);
    result = numbers_;
    for (const auto& row : graves_)
      ++(row.state == member_state::left ? result.left : result.failed);
  }
  result.events = dispatcher_->count();
  result.publications = publisher_->count();
  for (const member& each : publisher_->members()) {
    ++(each.state == member_state::suspect ? result.suspect : result.alive);
  }
  const auto ring = publisher_->ring();
  result.ring_nodes = ring.size();
  result.ring_points = ring.points();
  result.ring_bytes = ring.bytes();
  result.ring_version = ring.version();
  result.ring_fingerprint = ring.fingerprint();
  return result;
}

}  // namespace lifering::cluster_detail
