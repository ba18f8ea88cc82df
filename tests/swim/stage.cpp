#include "stage.hpp"

#include <algorithm>
#include <lifering/error.hpp>
#include <utility>

#include "base/check.hpp"

namespace lifering::swim::test {
namespace {

endpoint address_of(std::size_t actor) {
  return endpoint::v4(
      {10, 0, static_cast<std::uint8_t>(actor / 250), static_cast<std::uint8_t>(actor % 250 + 1)},
      7946);
}

record describe(std::size_t actor) {
  record made;
  made.name = stage::name(actor);
  made.epoch = make_epoch(1, actor);
  made.incarnation = 1;
  made.address = address_of(actor);
  return made;
}

}  // namespace

config papers() {
  config made;
  made.timing.probe_interval = 1s;
  made.timing.probe_timeout = 500ms;
  made.timing.suspicion_multiplier = 5;
  made.timing.suspicion_stretch = 6;
  made.timing.push_pull_interval = 0s;
  return made;
}

config only_the_papers() {
  config made = papers();
  features& parts = made.parts;
  parts.stream_probe = parts.adaptive_timeout = parts.repeated_pings = parts.confirm_at_once =
      parts.transport_evidence = parts.stall_detector = parts.lone_accuser_rule =
          parts.digest_sync = parts.heal = parts.urgent_gossip = parts.gossip_rounds = false;
  return made;
}

stage::stage(std::size_t actors, config settings, std::uint64_t seed)
    : machine(std::move(settings), describe(0), base::rng(seed), curtain) {
  for (std::size_t actor = 0; actor <= actors; ++actor)
    parts_.push_back(std::make_shared<const record>(describe(actor)));
  machine.adopt_view(now_, parts_);
}

void stage::run_for(base::duration time) {
  const base::time_point end = now_ + time;
  for (;;) {
    const base::time_point heard = agenda_.empty() ? base::never : agenda_.begin()->first;
    const base::time_point due = machine.next_deadline();
    if (std::min(heard, due) > end) break;
    now_ = std::max(now_, std::min(heard, due));
    if (due < heard) {
      effects out;
      machine.advance(now_, out);
      keep(out);
    } else {
      const auto what = std::move(agenda_.begin()->second);
      agenda_.erase(agenda_.begin());
      what();
    }
  }
  now_ = end;
}

void stage::skip_to(base::time_point time) {
  agenda_.clear();
  now_ = time;
}

void stage::after(base::duration delay, std::function<void()> what) {
  agenda_.emplace(now_ + delay, std::move(what));
}

bool stage::run_until(const std::function<bool()>& condition, base::duration limit) {
  const base::time_point end = now_ + limit;
  while (now_ < end && !condition())
    run_for(1ms);
  return condition();
}

void stage::silence() {
  for (std::size_t actor = 1; actor < parts_.size(); ++actor)
    silent.insert(actor);
}

std::size_t stage::actor_at(const endpoint& address) const {
  for (std::size_t actor = 0; actor < parts_.size(); ++actor) {
    if (parts_[actor]->address == address) return actor;
  }
  return parts_.size();
}

packet stage::from(std::size_t actor) const {
  packet made;
  made.from.name = name(actor);
  made.from.epoch = make_epoch(1, actor);
  made.from.incarnation = 1;
  made.from.view_digest = machine.view_digest();
  made.from.known_members = machine.present_members();
  return made;
}

void stage::hear(std::size_t actor, const packet& content) {
  give(packet_received{address_of(actor), content});
}

void stage::hear(std::size_t actor, update news) {
  packet made = from(actor);
  made.updates.push_back(std::move(news));
  hear(actor, made);
}

void stage::ping_machine(std::size_t actor, std::uint64_t sequence) {
  packet made = from(actor);
  made.body = ping{sequence, name(0), machine.self()->epoch};
  hear(actor, made);
}

void stage::answer_last_ping() {
  const sent last = with<ping>().back();
  const auto sequence = std::get<ping>(last.content.body).sequence;
  hear(actor_at(last.to), saying(actor_at(last.to), ack{sequence}));
}

stage::sent stage::next_ping() {
  const std::size_t before = with<ping>().size();
  LIFERING_CHECK(run_until([&] { return with<ping>().size() > before; }, 30s));
  return with<ping>().back();
}

void stage::drain(std::size_t actor) {
  for (std::uint64_t i = 0; machine.queued_updates() > 0; ++i) {
    LIFERING_CHECK(i < 1000);
    ping_machine(actor, 1'000'000 + i);
  }
}

void stage::answer(std::size_t actor, std::uint64_t sequence) {
  if (silent.count(actor) != 0) return;
  packet made = from(actor);
  made.body = ack{sequence};
  hear(actor, made);
}

void stage::keep(const effects& out) {
  for (const effect& e : out.list()) {
    if (const auto* d = std::get_if<send_datagram>(&e)) {
      datagrams.push_back({now_, d->to, out.packet_at(d->packet)});
      LIFERING_CHECK(size_bound(datagrams.back().content) <= machine.settings().datagram_budget);
      const auto* asked = std::get_if<ping>(&datagrams.back().content.body);
      if (asked && actor_at(d->to) < parts_.size()) {
        after(1ms, [this, actor = actor_at(d->to), sequence = asked->sequence] {
          answer(actor, sequence);
        });
      }
    } else if (const auto* o = std::get_if<open_stream>(&e)) {
      streams.push_back({now_, o->stream, o->to});
      after(o->deadline, [this, stream = o->stream] {
        give(stream_ended{stream, errc::timed_out});
      });
    } else if (const auto* f = std::get_if<send_frame>(&e)) {
      endpoint to;
      for (const opened& s : streams) {
        if (s.stream == f->stream) to = s.to;
      }
      frames.push_back({now_, to, out.packet_at(f->packet)});
    } else if (const auto* changed = std::get_if<member_changed>(&e)) {
      events.push_back(*changed);
    } else if (const auto* same = std::get_if<member_renewed>(&e)) {
      renewed.push_back(*same);
    } else if (const auto* finished = std::get_if<completed>(&e)) {
      done.push_back(*finished);
    } else if (const auto* message = std::get_if<user_received>(&e)) {
      messages.push_back(*message);
    } else if (const auto* seed = std::get_if<resolve_seed>(&e)) {
      resolving.push_back(seed->seed);
    }
  }
}

update stage::alive(std::size_t actor, std::uint64_t incarnation) const {
  record said = describe(actor);
  said.incarnation = incarnation;
  update made;
  made.kind = update_kind::alive;
  made.incarnation = incarnation;
  made.subject = std::make_shared<const record>(std::move(said));
  return made;
}

update stage::suspect(std::size_t actor, std::size_t by, std::uint64_t incarnation) const {
  update made;
  made.kind = update_kind::suspect;
  made.name = name(actor);
  made.epoch = actor == 0 ? machine.self()->epoch : make_epoch(1, actor);
  made.incarnation = incarnation;
  made.accuser = name(by);
  made.accuser_epoch = by == 0 ? machine.self()->epoch : make_epoch(1, by);
  return made;
}

update stage::failed(std::size_t actor, std::size_t by, std::uint32_t witnesses,
                     std::uint64_t incarnation) const {
  update made = suspect(actor, by, incarnation);
  made.kind = update_kind::failed;
  made.witnesses = witnesses;
  return made;
}

update stage::left(std::size_t actor, std::uint64_t incarnation) const {
  update made = suspect(actor, actor, incarnation);
  made.kind = update_kind::left;
  made.accuser.clear();
  made.accuser_epoch = 0;
  return made;
}

member_state stage::state(std::size_t actor) const {
  view_row row;
  LIFERING_CHECK(machine.find_member(name(actor), row));
  return row.state;
}

std::size_t stage::count(event_kind kind, const std::string& about) const {
  return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [&](const auto& e) {
    return e.kind == kind && (about.empty() || e.subject->name == about);
  }));
}

std::size_t stage::mentions(const packet& content, const std::string& about, update_kind kind) {
  return static_cast<std::size_t>(
      std::count_if(content.updates.begin(), content.updates.end(),
                    [&](const update& u) { return u.kind == kind && u.subject_name() == about; }));
}

std::size_t stage::mentions(std::size_t about, update_kind kind) const {
  return static_cast<std::size_t>(
      std::count_if(datagrams.begin(), datagrams.end(),
                    [&](const sent& s) { return mentions(s.content, name(about), kind) != 0; }));
}

}  // namespace lifering::swim::test
