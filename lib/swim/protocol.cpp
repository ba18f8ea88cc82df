// Wires the parts of the machine: brings each input to the part that it concerns. Owns no rule but
// the order in which things are looked at, and notices when it stood still.
#include "swim/protocol.hpp"

#include <algorithm>
#include <lifering/error.hpp>
#include <utility>

#include "swim/broadcaster.hpp"
#include "swim/contacts.hpp"
#include "swim/core.hpp"
#include "swim/disseminator.hpp"
#include "swim/farewell.hpp"
#include "swim/membership.hpp"
#include "swim/metadata_puller.hpp"
#include "swim/newcomers.hpp"
#include "swim/prober.hpp"
#include "swim/reconciler.hpp"
#include "swim/synchronizer.hpp"

namespace lifering::swim {

class machine {
 public:
  machine(config settings, record self, base::rng random, base::time_point now)
      : core_(std::move(settings), std::move(self), random, now),
        members_(
            core_, [this](row_id id) { prober_.probe_now(id); },
            [this](row_id id, bool unknown) {
              broadcaster_.on_record(id, unknown);
              metadata_.on_record(id);
            },
            [this](const record_ptr& life) { return must_prove(life); }),
        broadcaster_(core_, members_),
        streams_(core_, members_),
        metadata_(core_, members_, streams_),
        newcomers_(core_),
        prober_(core_, members_,
                [this](row_id id, std::uint64_t sequence) { streams_.probe(id, sequence); }),
        reconciler_(core_, members_, streams_),
        gossip_(core_),
        contacts_(core_, streams_, reconciler_),
        farewell_(core_, members_),
        planned_(next_deadline()) {
    streams_.set_prober(prober_);
  }

  core& shared() noexcept { return core_; }
  const core& shared() const noexcept { return core_; }
  membership& members() noexcept { return members_; }
  synchronizer& streams() noexcept { return streams_; }
  broadcaster& broadcasts() noexcept { return broadcaster_; }
  prober& probes() noexcept { return prober_; }
  contacts& finding() noexcept { return contacts_; }
  farewell& leaving() noexcept { return farewell_; }

  /// Every call is bracketed by these two.
  void begin(base::time_point now, effects& out) {
    core_.now = std::max(core_.now, now);
    core_.out = &out;
    graves_before_ = core_.table.graves();
    phase_before_ = core_.phase;
    notice_lateness();
  }
  void finish() {
    if (core_.phase != phase_before_ && !core_.active()) {
      prober_.stop();
      metadata_.stop();
      newcomers_.stop();
      streams_.stop();
      contacts_.stop(errc::stopped);
    }
    if (core_.table.graves() > graves_before_) contacts_.member_lost();
    gossip_.news_queued();
    core_.out = nullptr;
    // Never in the past: what is overdue now is no stall at the next call.
    planned_ = std::max(core_.now, next_deadline());
  }

  void advance() {
    if (!core_.active()) return;
    prober_.advance();
    members_.advance();
    reconciler_.advance();
    broadcaster_.advance();
    metadata_.advance();
    newcomers_.advance();
    contacts_.advance();
    farewell_.advance();
    gossip_.advance();
  }

  base::time_point next_deadline() const noexcept {
    if (!core_.active()) return base::never;
    return std::min({prober_.next_deadline(), members_.next_deadline(), reconciler_.next_deadline(),
                     broadcaster_.next_deadline(), contacts_.next_deadline(),
                     farewell_.next_deadline(), gossip_.next_deadline(), metadata_.next_deadline(),
                     newcomers_.next_deadline(), vigil()});
  }

  void on_packet(const endpoint& from, const packet& content);

  void on_refused(const endpoint& address) {
    leaving().on_refused(address);
    prober_.on_refused(address);
  }

  void on_send_failed() noexcept {
    // Once an interval: a burst of failures has one cause.
    if (core_.now < next_send_failure_) return;
    next_send_failure_ = core_.now + base::duration(core_.settings.timing.probe_interval);
    core_.health.worse(1);
  }

 private:
  base::time_point vigil() const noexcept;
  base::duration lateness_allowed() const noexcept;
  void notice_lateness();
  void catch_up(base::duration late);
  void wake_from_stall(base::duration late);
  bool must_prove(const record_ptr& life);
  void on_ack(const sender& by, std::uint64_t sequence);
  void dispatch(const endpoint& from, const packet& content, row_id by);
  void compare_views(const sender& theirs, row_id by);

  core core_;
  membership members_;
  broadcaster broadcaster_;
  synchronizer streams_;
  metadata_puller metadata_;
  newcomers newcomers_;
  prober prober_;
  reconciler reconciler_;
  disseminator gossip_;
  contacts contacts_;
  farewell farewell_;
  base::time_point planned_;
  base::time_point next_send_failure_{};
  std::size_t graves_before_ = 0;
  life_phase phase_before_ = life_phase::running;
};

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
  if (late >= 2 * base::duration(timing.probe_interval)) {
    wake_from_stall(late);
  } else if (late >= lateness_allowed()) {
    catch_up(late);
  }
}

void machine::catch_up(base::duration late) {
  // Time in which we didn't run is none in which others failed to answer: what they said may wait
  // in the socket's buffer. So everything that judges somebody is due that much later, and by
  // some more, to be read before it is missed.
  ++core_.counters.late_wakes;
  const base::duration grace = std::min<base::duration>(late, core_.settings.timing.probe_timeout);
  prober_.postpone(late + grace);
  members_.after_stall(late + grace);
  core_.judging_from = std::max(core_.judging_from, core_.now + grace);
}

void machine::wake_from_stall(base::duration late) {
  // We stood still: what went unanswered says nothing about others, and they may have given us up.
  // So forget what is under way, contradict first, accuse nobody for an interval, and believe no
  // accusation that may have waited in a buffer for as long as we stood still.
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
  if (!again && !core_.hold.active()) members_.publish(*core_.self, gossip_class::refutation);
  streams_.refresh();
}

void machine::on_packet(const endpoint& from, const packet& content) {
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
      // An older life that still speaks: let it know, and don't listen to it.
      core_.datagram(from).updates.push_back(core_.update_of(row));
      return;
    }
  }
  for (const update& news : content.updates) {
    members_.apply(news, row);
    if (core_.phase == life_phase::superseded) return;
  }
  if (row == no_row) row = core_.is_self(by.name) ? no_row : core_.table.find(by.name);
  for (const broadcast& heard : content.broadcasts)
    broadcaster_.on_broadcast(heard);
  dispatch(from, content, row);
}

bool machine::must_prove(const record_ptr& life) {
  if (!newcomers_.must_prove()) return false;
  newcomers_.ask(life);
  return true;
}

void machine::on_ack(const sender& by, std::uint64_t sequence) {
  if (farewell_.on_ack(sequence)) return;
  if (const record_ptr proved = newcomers_.on_ack(sequence, by)) {
    return members_.admit_proved(proved);
  }
  prober_.on_ack(sequence);
}

void machine::dispatch(const endpoint& from, const packet& content, row_id by) {
  if (const auto* asked = std::get_if<ping>(&content.body)) {
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
    if (by != no_row) {
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
  if (theirs.known_members == 0) return;  // It speaks of no view; everybody knows itself.
  const row& held = core_.table.at(by);
  if (!held.present() || held.subject->epoch != theirs.epoch) return;
  if (theirs.view_digest == core_.table.digest()) {
    contacts_.on_agreement();
    reconciler_.digest_agrees();
  } else {
    reconciler_.digest_differs(by, theirs.known_members);
  }
}

// The public face.

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
  machine_->on_packet(input.from, input.content);
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

void protocol::handle(base::time_point now, const send_failed&, effects& out) {
  // A local failure is evidence about ourselves: we may be the one that is cut off.
  machine_->begin(now, out);
  machine_->on_send_failed();
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
        shared.table.at(to).subject->address, input.payload,
        [&shared, id](std::error_code error, const std::string& detail) {
          shared.out->push(completed{id, error, error ? 0u : 1u, detail});
        });
    if (!begun) out.push(completed{id, errc::busy, 0, "too many streams are open"});
  } else {
    if (input.payload.size() > direct_payload_max()) {
      out.push(completed{input.id, errc::message_too_large, 0, ""});
      return machine_->finish();
    }
    packet& sent = shared.datagram(shared.table.at(to).subject->address);
    sent.body = user_message{shared.next_sequence(), input.payload};
    out.push(completed{input.id, {}, 0, ""});
  }
  machine_->finish();
}

std::size_t protocol::direct_payload_max() const {
  const core& shared = machine_->shared();
  const std::size_t budget = shared.settings.datagram_budget;
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
    if (shared.table.find(known->name) != no_row) continue;
    shared.table.insert(known, known->incarnation, member_state::alive, true, shared.now,
                        shared.random);
  }
  shared.settled = true;
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
