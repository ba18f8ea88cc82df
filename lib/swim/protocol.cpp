// The public face of the machine: each input within the bracket that every call has.
#include "swim/protocol.hpp"

#include <algorithm>
#include <lifering/error.hpp>
#include <utility>

#include "swim/machine.hpp"

namespace lifering::swim {

protocol::protocol(config settings, record self, base::rng random, base::time_point now)
    : machine_(std::make_unique<machine>(std::move(settings), std::move(self), random, now)) {}
protocol::~protocol() = default;
protocol::protocol(protocol&&) noexcept = default;
protocol& protocol::operator=(protocol&&) noexcept = default;

base::time_point protocol::next_deadline() const {
  return machine_->next_deadline();
}

void protocol::advance(base::time_point now, effects& out) {
  machine_->begin(now, out);
  machine_->advance();
  machine_->finish();
}

void protocol::handle(base::time_point now, const packet_received& input, effects& out) {
  if (!machine_->shared().active()) return;
  machine_->begin(now, out);
  machine_->on_packet(input);
  machine_->finish();
}

void protocol::handle(base::time_point now, const stream_opened& input, effects& out) {
  machine_->begin(now, out);
  static_cast<void>(input);  // its frames were queued when it was asked for
  machine_->finish();
}

void protocol::handle(base::time_point now, const stream_accepted& input, effects& out) {
  machine_->begin(now, out);
  machine_->streams().on_accepted(input.stream, input.from);
  machine_->finish();
}

void protocol::handle(base::time_point now, const stream_received& input, effects& out) {
  machine_->begin(now, out);
  machine_->streams().on_frame(input.stream, input.content);
  machine_->finish();
}

void protocol::handle(base::time_point now, const stream_ended& input, effects& out) {
  machine_->begin(now, out);
  machine_->streams().on_ended(input.stream, input.error);
  machine_->finish();
}

void protocol::handle(base::time_point now, const peer_refused& input, effects& out) {
  if (!machine_->shared().active()) return;
  machine_->begin(now, out);
  machine_->on_refused(input.address);
  machine_->finish();
}

void protocol::handle(base::time_point now, const send_failed& input, effects& out) {
  // A local failure is evidence about ourselves: we may be the one that is cut off.
  machine_->begin(now, out);
  machine_->on_send_failed(input.to);
  machine_->finish();
}

void protocol::handle(base::time_point now, const seed_resolved& input, effects& out) {
  if (!machine_->shared().active()) return;
  machine_->begin(now, out);
  machine_->finding().on_resolved(input);
  machine_->finish();
}

void protocol::handle(base::time_point now, const join_command& input, effects& out) {
  machine_->begin(now, out);
  switch (machine_->shared().phase) {
    case life_phase::gone:
      machine_->members().be_reborn();
      machine_->probes().resume();
      [[fallthrough]];
    case life_phase::running:
      machine_->finding().join(input);
      break;
    case life_phase::leaving:
      out.push(completed{input.id, errc::busy, 0, "leaving"});
      break;
    case life_phase::superseded:
      out.push(completed{input.id, errc::name_in_use, 0, "a newer life of this name exists"});
      break;
  }
  machine_->finish();
}

void protocol::handle(base::time_point now, const leave_command& input, effects& out) {
  machine_->begin(now, out);
  machine_->finding().stop(errc::canceled);
  machine_->leaving().leave(input);
  machine_->finish();
}

void protocol::handle(base::time_point now, const cancel_command& input, effects& out) {
  machine_->begin(now, out);
  machine_->finding().cancel(input.target);
  machine_->leaving().cancel(input.target);
  machine_->finish();
}

void protocol::handle(base::time_point now, const update_command& input, effects& out) {
  machine_->begin(now, out);
  core& shared = machine_->shared();
  record changed = *shared.self;
  if (input.weight) changed.weight = *input.weight;
  if (input.phase) changed.phase = *input.phase;
  if (input.metadata) changed.metadata = *input.metadata;
  if (input.service) changed.service = *input.service;
  if (input.address) changed.address = *input.address;
  if (shared.phase == life_phase::superseded) {
    out.push(completed{input.id, errc::stopped, 0, ""});
  } else if (shared.phase == life_phase::running) {
    machine_->members().publish(std::move(changed), gossip_class::metadata);
    // While we are held down we aren't there; the event of our coming back will show it.
    if (!shared.hold.active()) shared.notify(event_kind::updated, shared.self_row);
    out.push(completed{input.id, {}, 0, ""});
  } else {
    // Nobody hears it now; the life that the next join begins says it.
    ++changed.incarnation;
    shared.self = std::make_shared<const record>(std::move(changed));
    out.push(completed{input.id, {}, 0, ""});
  }
  machine_->finish();
}

void protocol::handle(base::time_point now, const forget_command& input, effects& out) {
  machine_->begin(now, out);
  const bool known = machine_->members().forget(input.name);
  out.push(completed{input.id, known ? std::error_code() : errc::unknown_member, 0, ""});
  machine_->finish();
}

void protocol::handle(base::time_point now, const send_command& input, effects& out) {
  machine_->begin(now, out);
  core& shared = machine_->shared();
  const row_id to = shared.table.find(input.to);
  if (shared.phase != life_phase::running) {
    out.push(completed{input.id, errc::stopped, 0, ""});
  } else if (input.to.empty()) {
    const bool fits = machine_->broadcasts().send(input.payload);
    out.push(completed{input.id, fits ? std::error_code() : errc::message_too_large, 0, ""});
  } else if (to == no_row || to == shared.self_row || !shared.table.at(to).present()) {
    out.push(completed{input.id, errc::unknown_member, 0, ""});
  } else if (input.reliable) {
    // Completed from inside of a later call, so into whatever buffer is current then.
    const command_id id = input.id;
    const bool begun = machine_->streams().deliver(
        *shared.table.at(to).subject, input.payload, [&shared, id](const stream_outcome& how) {
          shared.out->push(completed{id, how.error, how.error ? 0u : 1u, how.detail});
        });
    if (!begun) out.push(completed{id, errc::busy, 0, "too many streams are open"});
  } else {
    if (input.payload.size() > direct_payload_max()) {
      out.push(completed{input.id, errc::message_too_large, 0, ""});
      return machine_->finish();
    }
    packet& sent = shared.datagram(shared.table.at(to).subject->address);
    sent.body = user_message{hash_bytes(input.to), input.payload};
    out.push(completed{input.id, {}, 0, ""});
  }
  machine_->finish();
}

std::size_t protocol::direct_payload_max() const {
  const core& shared = machine_->shared();
  const std::size_t budget = shared.settings.datagram_budget + shared.settings.vouching_room;
  packet largest;
  largest.from.name = shared.self->name;
  largest.body = user_message{~std::uint64_t{0}, std::string(budget, ' ')};
  return budget - std::min(budget, size_bound(largest) - budget);
}

std::size_t protocol::broadcast_payload_max() const {
  return machine_->broadcasts().payload_max();
}

void protocol::set_ring_fingerprint(std::uint64_t fingerprint) noexcept {
  core& shared = machine_->shared();
  if (shared.ring_fingerprint != fingerprint) shared.disagreed = shared.ring_changed = shared.now;
  shared.ring_fingerprint = fingerprint;
}

void protocol::adopt_view(base::time_point now, std::span<const record_ptr> members) {
  core& shared = machine_->shared();
  shared.now = std::max(shared.now, now);
  for (const record_ptr& known : members) {
    if (shared.is_self(known->name)) continue;
    shared.table.insert(known, known->incarnation, member_state::alive, true, shared.now,
                        shared.random);
  }
  shared.settled = true;
}

packet protocol::news_within(std::size_t budget) const {
  packet made;
  machine_->shared().sign(made);
  const std::size_t used = size_bound(made);
  if (used < budget) machine_->shared().gossip.show(budget - used, made.updates);
  return made;
}

const record_ptr& protocol::self() const noexcept {
  return machine_->shared().self;
}

void protocol::for_each_member(const visitor& visit) const {
  const member_table& table = machine_->shared().table;
  for (row_id id = 0; id < table.slots(); ++id) {
    const row& held = table.at(id);
    if (held.subject) visit(held.subject, held.incarnation, held.state);
  }
}

bool protocol::find_member(std::string_view name, view_row& out) const {
  const member_table& table = machine_->shared().table;
  const row_id id = table.find(name);
  if (id == no_row) return false;
  out = {table.at(id).subject, table.at(id).incarnation, table.at(id).state};
  return true;
}

std::size_t protocol::present_members() const noexcept {
  return machine_->shared().table.present();
}
std::size_t protocol::graves() const noexcept {
  return machine_->shared().table.graves();
}
std::size_t protocol::queued_updates() const noexcept {
  return machine_->shared().gossip.size();
}
std::size_t protocol::suspicions() const noexcept {
  return machine_->members().suspicions();
}
swim::gauges protocol::gauges() const noexcept {
  const core& shared = machine_->shared();
  swim::gauges now;
  now.queued_leaves = shared.gossip.size(gossip_class::leave);
  now.queued_failures = shared.gossip.size(gossip_class::failure);
  now.queued_suspicions = shared.gossip.size(gossip_class::suspicion);
  now.queued_refutations = shared.gossip.size(gossip_class::refutation);
  now.queued_joins = shared.gossip.size(gossip_class::join);
  now.queued_metadata = shared.gossip.size(gossip_class::metadata);
  now.queued_broadcasts = shared.broadcasts.waiting();
  now.suspicions = suspicions();
  now.round_trip = to_microseconds(shared.trip.smoothed());
  now.round_trip_deviation = to_microseconds(shared.trip.deviation());
  now.probe_timeout = to_microseconds(shared.ping_timeout());
  return now;
}
std::uint64_t protocol::view_digest() const noexcept {
  return machine_->shared().table.digest();
}
unsigned protocol::local_health() const noexcept {
  return machine_->shared().health.score();
}

protocol::peer_agreement protocol::agreement(base::time_point now) const {
  const core& shared = machine_->shared();
  const base::duration recent = 20 * base::duration(shared.settings.timing.probe_interval);
  peer_agreement result;
  for (const row_id id : shared.table.others()) {
    const row& held = shared.table.at(id);
    if (!held.ever_heard || now - held.heard > recent || held.heard <= shared.ring_changed) {
      ++result.unheard;
    } else {
      ++(held.agrees ? result.agreeing : result.differing);
    }
  }
  result.since = result.differing == 0 ? shared.disagreed : base::never;
  return result;
}

bool protocol::held_down() const noexcept {
  return machine_->shared().hold.active();
}

const swim::stats& protocol::stats() const noexcept {
  return machine_->shared().counters;
}
const config& protocol::settings() const noexcept {
  return machine_->shared().settings;
}

}  // namespace lifering::swim
