#include "village.hpp"

#include <algorithm>
#include <lifering/error.hpp>

#include "base/check.hpp"

namespace lifering::swim::test {
namespace {

constexpr base::duration way = 500us;
constexpr std::size_t nobody = ~std::size_t{0};

}  // namespace

village::village(std::size_t size, config settings, std::uint64_t seed)
    : settings_(std::move(settings)), random_(seed) {
  for (std::size_t i = 0; i < size; ++i)
    add(std::string("m").append(std::to_string(i + 1)));
}

std::size_t village::add(const std::string& name, const std::string& address) {
  const std::size_t index = villagers_.size();
  villagers_.push_back(std::make_unique<villager>());
  villager& made = *villagers_.back();
  made.name = name;
  made.address = address.empty() ? endpoint::v4({10, 0, static_cast<std::uint8_t>((index + 1) >> 8),
                                                 static_cast<std::uint8_t>(index + 1)},
                                                7946)
                                 : *endpoint::parse(address);
  record self;
  self.name = name;
  self.address = made.address;
  made.machine = std::make_unique<protocol>(settings_, self, base::rng(random_.next()), now_);
  return index;
}

void village::after(base::duration delay, std::function<void()> what) {
  agenda_.emplace(now_ + delay, std::move(what));
}

void village::run_for(base::duration time) {
  const base::time_point end = now_ + time;
  for (;;) {
    base::time_point next = agenda_.empty() ? base::never : agenda_.begin()->first;
    std::size_t who = nobody;
    for (std::size_t i = 0; i < size(); ++i) {
      if (!at(i).running || at(i).frozen) continue;
      const base::time_point due = machine(i).next_deadline();
      if (due < next) {
        next = due;
        who = i;
      }
    }
    if (next > end) break;
    now_ = std::max(now_, next);
    if (who != nobody) {
      call(who, [this](protocol& m, effects& out) { m.advance(now_, out); });
    } else {
      const auto what = std::move(agenda_.begin()->second);
      agenda_.erase(agenda_.begin());
      what();
    }
  }
  now_ = end;
}

bool village::run_until(const std::function<bool()>& condition, base::duration limit) {
  const base::time_point end = now_ + limit;
  while (now_ < end) {
    if (condition()) return true;
    run_for(5ms);
  }
  return condition();
}

void village::call(std::size_t who, const std::function<void(protocol&, effects&)>& what) {
  effects out;
  what(machine(who), out);
  carry_out(who, out);
}

void village::carry_out(std::size_t who, effects& out) {
  for (const effect& e : out.list()) {
    if (const auto* d = std::get_if<send_datagram>(&e)) {
      send(who, d->to, out.packet_at(d->packet));
    } else if (const auto* o = std::get_if<open_stream>(&e)) {
      connect(who, *o);
    } else if (const auto* f = std::get_if<send_frame>(&e)) {
      push_frame(who, f->stream, out.packet_at(f->packet));
    } else if (const auto* c = std::get_if<close_stream>(&e)) {
      close(who, c->stream);
    } else if (const auto* r = std::get_if<resolve_seed>(&e)) {
      seed_resolved answer;
      answer.seed = r->seed;
      if (resolver)
        answer = resolver(r->seed);
      else if (const auto parsed = endpoint::parse(r->seed))
        answer.addresses.push_back(*parsed);
      after(way, [this, who, answer] {
        deliver(who, [this, who, answer] {
          call(who, [&](protocol& m, effects& made) { m.handle(now_, answer, made); });
        });
      });
    } else if (const auto* n = std::get_if<member_changed>(&e)) {
      at(who).events.push_back({now_, n->kind, n->subject->name, n->subject->epoch});
    } else if (const auto* done = std::get_if<completed>(&e)) {
      at(who).done.push_back(*done);
    } else if (const auto* message = std::get_if<user_received>(&e)) {
      at(who).messages.push_back(*message);
    }
  }
}

void village::deliver(std::size_t to, std::function<void()> what) {
  villager& target = at(to);
  if (!target.running) return;
  if (target.frozen)
    target.held.push_back(std::move(what));
  else
    what();
}

namespace {

/// What the codec leaves of a packet: large metadata doesn't travel with its record.
packet as_encoded(const packet& whole) {
  packet made = whole;
  const auto strip = [](record_ptr& of) {
    if (!of || of->metadata_hash == 0 || of->lacks_metadata()) return;
    record lean = *of;
    lean.metadata.clear();
    of = std::make_shared<const record>(std::move(lean));
  };
  for (update& news : made.updates)
    strip(news.subject);
  if (auto* view = std::get_if<view_rows>(&made.body)) {
    for (view_row& each : view->rows)
      strip(each.subject);
  }
  if (auto* delta = std::get_if<view_delta>(&made.body)) {
    for (view_row& each : delta->rows)
      strip(each.subject);
  }
  return made;
}

}  // namespace

void village::send(std::size_t from, const endpoint& to, const packet& content) {
  const std::size_t target = by_address(to);
  if (target == nobody || is_cut(from, target)) return;
  if (filter && !filter(from, target, content)) return;
  LIFERING_CHECK(size_bound(content) <= settings_.datagram_budget);
  after(way, [this, from, target, content = as_encoded(content)] {
    if (!at(target).running) {
      if (!at(target).host_up || is_cut(target, from)) return;
      const endpoint refused = at(target).address;
      after(way, [this, from, refused] {
        deliver(from, [this, from, refused] {
          call(from,
               [&](protocol& m, effects& out) { m.handle(now_, peer_refused{refused}, out); });
        });
      });
      return;
    }
    const endpoint source = at(from).address;
    deliver(target, [this, target, source, content] {
      call(target, [&](protocol& m, effects& out) {
        m.handle(now_, packet_received{source, content}, out);
      });
    });
  });
}

void village::inject(std::size_t to, const endpoint& from, const packet& content) {
  call(to, [&](protocol& m, effects& out) { m.handle(now_, packet_received{from, content}, out); });
}

void village::connect(std::size_t from, const open_stream& asked) {
  const std::size_t target = by_address(asked.to);
  const bool reachable = target != nobody && !is_cut(from, target) && !is_cut(target, from);
  if (!reachable || (!at(target).running && !at(target).host_up)) {
    after(asked.deadline, [this, from, asked] {
      deliver(from, [this, from, asked] {
        call(from, [&](protocol& m, effects& out) {
          m.handle(now_, stream_ended{asked.stream, errc::timed_out}, out);
        });
      });
    });
    return;
  }
  if (!at(target).running) {
    after(2 * way, [this, from, asked] {
      deliver(from, [this, from, asked] {
        call(from, [&](protocol& m, effects& out) {
          m.handle(now_, stream_ended{asked.stream, errc::unreachable}, out);
        });
      });
    });
    return;
  }
  const stream_id server{accepted_stream_bit | ++accepted_};
  pipes_.push_back(std::make_unique<pipe>(pipe{from, asked.stream, target, server}));
  after(way, [this, target, server, from] {
    const endpoint source = at(from).address;
    deliver(target, [this, target, server, source] {
      call(target, [&](protocol& m, effects& out) {
        m.handle(now_, stream_accepted{server, source}, out);
      });
    });
  });
}

village::pipe* village::find_pipe(std::size_t who, stream_id stream) {
  for (auto& p : pipes_) {
    if ((p->client == who && p->client_id == stream) ||
        (p->server == who && p->server_id == stream)) {
      return p.get();
    }
  }
  return nullptr;
}

void village::push_frame(std::size_t from, stream_id stream, const packet& content) {
  const pipe* p = find_pipe(from, stream);
  if (!p) return;
  const bool upwards = p->client == from && p->client_id == stream;
  const std::size_t target = upwards ? p->server : p->client;
  const stream_id theirs = upwards ? p->server_id : p->client_id;
  if (target == nobody || is_cut(from, target)) return;
  after(2 * way, [this, target, theirs, content = as_encoded(content)] {
    deliver(target, [this, target, theirs, content] {
      call(target, [&](protocol& m, effects& out) {
        m.handle(now_, stream_received{theirs, content}, out);
      });
    });
  });
}

void village::close(std::size_t from, stream_id stream) {
  const pipe* p = find_pipe(from, stream);
  if (!p) return;
  const bool upwards = p->client == from && p->client_id == stream;
  const std::size_t target = upwards ? p->server : p->client;
  const stream_id theirs = upwards ? p->server_id : p->client_id;
  if (target == nobody) return;
  after(3 * way, [this, target, theirs] {
    deliver(target, [this, target, theirs] {
      call(target, [&](protocol& m, effects& out) {
        m.handle(now_, stream_ended{theirs, {}}, out);
      });
    });
  });
}

std::size_t village::by_address(const endpoint& address) const {
  if (holder) {
    if (const std::size_t found = holder(address); found < villagers_.size()) return found;
  }
  // The newest holder of an address, as after a restart elsewhere.
  for (std::size_t i = size(); i-- > 0;) {
    if (villagers_[i]->address == address) return i;
  }
  return nobody;
}

bool village::is_cut(std::size_t from, std::size_t to) const {
  return cuts_.count({from, to}) != 0;
}

void village::form() {
  for (std::size_t i = 1; i < size(); ++i)
    join(i, 0);
  const bool formed = run_until([this] { return all_see(size()) && same_view(); }, 30s);
  LIFERING_CHECK(formed);
  run_for(3s);  // let the news run out
}

void village::join(std::size_t who, std::size_t seed) {
  const join_command asked{command_id{++commands_}, {at(seed).address.to_string()}, 10s};
  call(who, [&](protocol& m, effects& out) { m.handle(now_, asked, out); });
}

void village::leave(std::size_t who) {
  const leave_command asked{command_id{++commands_}, 5s};
  call(who, [&](protocol& m, effects& out) { m.handle(now_, asked, out); });
}

void village::crash(std::size_t who) {
  at(who).running = false;
  for (auto& p : pipes_) {
    if (p->client == who) close(who, p->client_id);
    if (p->server == who) close(who, p->server_id);
  }
}

void village::vanish(std::size_t who) {
  at(who).running = false;
  at(who).host_up = false;
}

void village::freeze(std::size_t who) {
  at(who).frozen = true;
}

void village::thaw(std::size_t who) {
  at(who).frozen = false;
  auto waiting = std::move(at(who).held);
  at(who).held.clear();
  for (auto& what : waiting)
    what();
}

void village::restart(std::size_t who, const std::string& address) {
  villager& v = at(who);
  for (auto& p : pipes_) {  // the new process counts its streams anew
    if (p->client == who) p->client = nobody;
    if (p->server == who) p->server = nobody;
  }
  record self;
  self.name = v.name;
  if (!address.empty()) v.address = *endpoint::parse(address);
  self.address = v.address;
  v.machine = std::make_unique<protocol>(settings_, self, base::rng(random_.next()), now_);
  v.running = v.host_up = true;
  v.frozen = false;
  v.held.clear();
  v.events.clear();
}

void village::cut(std::size_t from, std::size_t to) {
  cuts_.insert({from, to});
}

void village::cut_off(std::size_t who) {
  for (std::size_t i = 0; i < size(); ++i) {
    if (i == who) continue;
    cut(i, who);
    cut(who, i);
  }
}

void village::mend() {
  cuts_.clear();
}

std::size_t village::count(std::size_t who, event_kind kind, const std::string& about) const {
  const auto& events = villagers_[who]->events;
  return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [&](const seen& e) {
    return e.kind == kind && (about.empty() || e.name == about);
  }));
}

base::time_point village::last(std::size_t who, event_kind kind) const {
  const auto& events = villagers_[who]->events;
  const auto found = std::find_if(events.rbegin(), events.rend(),
                                  [kind](const seen& e) { return e.kind == kind; });
  LIFERING_CHECK(found != events.rend());
  return found->at;
}

member_state village::state(std::size_t who, const std::string& about) const {
  view_row row;
  return villagers_[who]->machine->find_member(about, row) ? row.state : member_state::left;
}

bool village::everywhere(const std::string& about, member_state wanted) const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!villagers_[i]->running || villagers_[i]->name == about) continue;
    view_row row;
    if (!villagers_[i]->machine->find_member(about, row) || row.state != wanted) return false;
  }
  return true;
}

bool village::all_see(std::size_t present) const {
  return std::all_of(villagers_.begin(), villagers_.end(), [present](const auto& v) {
    return !v->running || v->machine->present_members() == present;
  });
}

bool village::same_view() const {
  const villager* first = nullptr;
  for (const auto& v : villagers_) {
    if (!v->running) continue;
    if (!first)
      first = v.get();
    else if (v->machine->view_digest() != first->machine->view_digest())
      return false;
  }
  return true;
}

}  // namespace lifering::swim::test
