#include "swim/core.hpp"

#include <algorithm>
#include <utility>

#include "base/integer_log.hpp"

namespace lifering::swim {
namespace {

/// Two processes of one name whose generators were seeded alike are still two lives, unless they
/// have one address as well.
std::uint64_t epoch_salt(std::uint64_t drawn, const record& own) {
  const auto* bytes = reinterpret_cast<const char*>(own.address.bytes.data());
  const std::uint64_t address = hash_bytes({bytes, own.address.bytes.size()});
  return drawn ^ ((address + own.address.port) * 0x9e3779b97f4a7c15u >> 32);
}

}  // namespace

core::core(config given, record own, base::rng generator, base::time_point start)
    : settings(std::move(given)),
      random(generator),
      now(start),
      gossip(settings.datagram_budget -
             std::min(settings.datagram_budget, size_bound(sender{.name = own.name}))),
      health(settings.local_health_max),
      started(start),
      asking_until(start),
      ring_changed(start),
      heard_any(start),
      view_changed(start),
      judging_from(start),
      merging_until(start),
      stale_until(start),
      behind_until(start),
      disagreed(start),
      // Replies to a former process at our address must not match our probes.
      sequence_(random.next() >> 16) {
  if (own.epoch == 0) own.epoch = make_epoch(1, epoch_salt(random.next(), own));
  own.incarnation = 1;
  hash_metadata(own);
  self = std::make_shared<const record>(std::move(own));
  if (settings.intern) self = settings.intern(self);
  self_row = table.insert(self, self->incarnation, member_state::alive, false, now, random);
}

unsigned core::retransmit_limit() const noexcept {
  return settings.timing.retransmit_multiplier * base::ceil_log10(table.present() + 1);
}

base::duration core::ping_timeout() const noexcept {
  const base::duration limit = settings.timing.probe_timeout;
  const base::duration chosen = settings.parts.adaptive_timeout ? trip.timeout(limit) : limit;
  return settings.parts.scale_probe_timeout ? scaled(chosen) : chosen;
}

packet& core::datagram(const endpoint& to) {
  packet& made = out->datagram(to);
  sign(made);
  return made;
}

packet& core::frame(stream_id stream) {
  packet& made = out->frame(stream);
  sign(made);
  return made;
}

void core::sign(packet& onto) const {
  onto.from.name = self->name;
  onto.from.epoch = self->epoch;
  onto.from.incarnation = self->incarnation;
  onto.from.placement = settings.placement;
  onto.from.view_digest = table.digest();
  onto.from.ring_fingerprint = ring_fingerprint;
  onto.from.known_members = table.present();
}

void core::piggyback(packet& onto, row_id target) {
  std::size_t used = size_bound(onto);
  row_id told = no_row;
  if (target != no_row && settings.parts.buddy && target != self_row &&
      table.at(target).state != member_state::alive) {
    onto.updates.push_back(update_of(target));
    used += size_bound(onto.updates.back());
    told = target;
  }
  const std::size_t budget = settings.datagram_budget;
  if (used > budget && told != no_row) {  // two long names in a small datagram
    used -= size_bound(onto.updates.back());
    onto.updates.pop_back();
  }
  if (used >= budget) return;
  // Messages of the application keep a tenth of each packet.
  const std::size_t kept_free = broadcasts.waiting() > 0 ? (budget - used) / 10 : 0;
  const std::size_t before = onto.updates.size();
  used += gossip.take(budget - used - kept_free, retransmit_limit(), told, onto.updates);
  counters.updates_sent += onto.updates.size() - before;
  broadcasts.take(budget - used, retransmit_limit(), onto.broadcasts);
}

update core::update_of(row_id id) const {
  const row& held = table.at(id);
  update made;
  made.subject = held.subject;
  made.incarnation = held.incarnation;
  switch (held.state) {
    case member_state::alive:
      made.kind = update_kind::alive;
      break;
    case member_state::suspect:
      made.kind = update_kind::suspect;
      break;
    case member_state::failed:
      made.kind = update_kind::failed;
      break;
    case member_state::left:
      made.kind = update_kind::left;
      break;
  }
  if (held.state == member_state::alive) made.incarnation = held.subject->incarnation;
  if (held.state == member_state::suspect || held.state == member_state::failed) {
    made.accuser = self->name;
    made.accuser_epoch = self->epoch;
  }
  if (held.state == member_state::failed) {
    made.failures = held.failures;
    // Nobody knows better than we that we are held down.
    if (id == self_row) made.witnesses = witnesses_max;
  }
  return made;
}

view_row core::row_of(row_id id) const {
  const row& held = table.at(id);
  view_row made{held.subject, std::max(held.incarnation, held.subject->incarnation), held.state,
                held.failures, 0};
  if (!held.present()) {
    const auto age = std::chrono::floor<std::chrono::seconds>(now - held.since).count();
    made.age_seconds = static_cast<std::uint32_t>(std::clamp<std::int64_t>(age, 0, 1 << 30));
  }
  return made;
}

void core::notify(event_kind kind, row_id id) {
  const row& held = table.at(id);
  out->push(member_changed{kind, held.subject, held.incarnation, held.state});
}

void core::show_renewed(row_id id) {
  const row& held = table.at(id);
  out->push(member_renewed{held.subject, held.incarnation, held.state});
}

base::duration core::jitter(base::duration limit) noexcept {
  if (limit.count() <= 0) return base::duration{};
  return base::duration(
      static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(limit.count()))));
}

}  // namespace lifering::swim
