#include "sim/cluster.hpp"

#include <algorithm>
#include <lifering/error.hpp>
#include <lifering/hash.hpp>
#include <utility>

#include "base/check.hpp"
#include "ring/mix64.hpp"
#include "wire/limits.hpp"

namespace lifering::sim {
namespace {

constexpr std::string_view cluster_id = "simulated";

/// What a process reads before it looks at its timers again.
constexpr std::size_t datagrams_per_turn = 64;

/// Kinds of entries in the trace.
enum : std::uint64_t { heard_datagram = 1, heard_frame, said, happened, began, ended, done };

/// Generators of one seed that don't depend on each other.
enum : std::uint64_t { for_network = 1, for_cluster, for_machines };

base::rng derived(std::uint64_t seed, std::uint64_t purpose, std::uint64_t a = 0,
                  std::uint64_t b = 0) {
  return base::rng(ring_detail::hash64(seed).add(purpose).add(a).add(b).value());
}

}  // namespace

cluster::cluster(const cluster_options& options)
    : faults(options.nodes),
      hosts(world, faults, options.nodes, options.profile.network.receive_buffer),
      network(world, faults, hosts, options.profile.network, derived(options.seed, for_network)),
      streams(world, hosts, network, *this, options.profile.machine.timing.stream_timeout),
      pool([this](const swim::record& first, const swim::record&) {
        broken.add(node_of(first.name), "two different records of incarnation " +
                                            std::to_string(first.incarnation) + " of one life");
      }),
      options_(options),
      random_(derived(options.seed, for_cluster)),
      codec_{std::string(cluster_id)},
      nodes_(options.nodes + std::size_t{1}),
      initial_(options.nodes + std::size_t{1}) {
  LIFERING_CHECK(options.nodes > 0 && options.nodes <= node_limit);
  for (node_id which = 1; which <= options.nodes; ++which)
    nodes_[which] = std::make_unique<node>(*this, which);
  network.connect([this](node_id to, const endpoint& from,
                         std::span<const std::uint8_t> bytes) { receive(to, from, bytes); },
                  [this](node_id sender, const endpoint& refused) {
                    nodes_[sender]->tell(swim::peer_refused{refused});
                  });
}

cluster::~cluster() = default;

void cluster::start_formed() {
  // Everyone's epoch is given, as views are exchanged before anybody could choose one.
  std::vector<swim::record_ptr> view;
  view.reserve(options_.nodes);
  for (node_id which = 1; which <= options_.nodes; ++which) {
    boot(which, false, swim::make_epoch(1, which));
    view.push_back(pool.intern(nodes_[which]->machine().self()).value);
  }
  for (node_id which = 1; which <= options_.nodes; ++which) {
    nodes_[which]->machine().adopt_view(world.now(), view);
    for (observer* who : observers_)
      who->on_started(which);
    nodes_[which]->arm();
  }
}

void cluster::start(node_id which, bool moved) {
  boot(which, moved, 0);
  for (observer* who : observers_)
    who->on_started(which);
  node& member = *nodes_[which];
  std::vector<std::string> seeds;
  for (const node_id seed : options_.seeds.members(options_.nodes))
    seeds.push_back(name_of(seed));
  const auto id = member.next_command();
  member.tell(swim::join_command{id, std::move(seeds), join_deadline});
}

void cluster::boot(node_id which, bool moved, std::uint64_t epoch) {
  hosts.start(which, moved);
  swim::record self = record_of(which);
  self.epoch = epoch;
  nodes_[which]->start(settings_of(which), std::move(self), random_of(which));
  trace.note(which, began, hosts.life(which));
  if (trace.prints()) trace.line(which, "starts at " + hosts.address(which).to_string());
}

swim::config cluster::settings_of(node_id) {
  swim::config settings = options_.profile.machine;
  settings.datagram_budget = settings.limits.datagram - codec_.overhead();
  settings.intern = [this](swim::record_ptr given) { return pool.intern(given).value; };
  return settings;
}

swim::record cluster::record_of(node_id which) const {
  swim::record self = initial_[which];
  self.name = name_of(which);
  self.address = hosts.address(which);
  self.incarnation = 1;
  return self;
}

base::rng cluster::random_of(node_id which) const {
  return derived(options_.seed, for_machines, which, hosts.life(which));
}

void cluster::stop(node_id which, presence left_behind) {
  if (!running(which)) return;
  for (observer* who : observers_)
    who->on_stopping(which);
  nodes_[which]->stop();
  hosts.stop(which, left_behind);
  streams.process_ended(which, left_behind);
  trace.note(which, ended, static_cast<std::uint64_t>(left_behind));
  if (trace.prints()) trace.line(which, left_behind == presence::silent ? "vanishes" : "ends");
  for (observer* who : observers_)
    who->on_stopped(which);
}

void cluster::leave(node_id which) {
  if (!running(which)) return;
  hosts.deliver(which, 0, [this, which] {
    node& member = *nodes_[which];
    const auto id = member.next_command();
    member.stop_after(id);
    member.tell(swim::leave_command{id, leave_deadline});
  });
}

void cluster::pause(node_id which, duration time) {
  if (!running(which)) return;
  hosts.pause(which);
  if (trace.prints()) trace.line(which, "paused");
  world.after(time, [this, which, life = hosts.life(which)] {
    if (life != hosts.life(which)) return;
    hosts.resume(which, life);
    if (trace.prints()) trace.line(which, "resumed");
    if (!hosts.paused(which)) wake_up(which);
  });
}

void cluster::wake_up(node_id which) {
  // A process that is continued finds its timers due and its sockets full, in either order. It
  // reads as much in one turn as the driver does, and looks at its timers between the turns.
  if (random_.chance(1, 2)) nodes_[which]->wake();
  while (!hosts.hampered(which) && !hosts.drained(which)) {
    hosts.drain(which, datagrams_per_turn);
    nodes_[which]->wake();
  }
  nodes_[which]->wake();
  nodes_[which]->arm();
}

void cluster::jerk(node_id which, duration awake, duration asleep, duration time) {
  if (!running(which) || time <= duration::zero()) return;
  pause(which, std::min(asleep, time));
  world.after(awake + asleep, [=, this, life = hosts.life(which)] {
    if (life == hosts.life(which)) jerk(which, awake, asleep, time - awake - asleep);
  });
}

void cluster::block(node_id which, duration time) {
  if (!running(which)) return;
  hosts.block(which);
  if (trace.prints()) trace.line(which, "blocked");
  world.after(time, [this, which, life = hosts.life(which)] {
    if (life != hosts.life(which)) return;
    hosts.unblock(which, life);
    if (trace.prints()) trace.line(which, "unblocked");
    hosts.drain(which);
  });
}

void cluster::update(node_id which, swim::update_command change) {
  if (!running(which)) return;
  hosts.deliver(which, 0, [this, which, change = std::move(change)]() mutable {
    change.id = nodes_[which]->next_command();
    nodes_[which]->tell(change);
  });
}

void cluster::broadcast(node_id which, const std::string& payload) {
  if (!running(which)) return;
  hosts.deliver(which, 0, [this, which, payload] {
    swim::send_command command;
    command.id = nodes_[which]->next_command();
    command.payload = payload;
    nodes_[which]->tell(command);
  });
}

void cluster::forget(node_id which, node_id subject) {
  if (!running(which)) return;
  hosts.deliver(which, 0, [this, which, subject] {
    const auto id = nodes_[which]->next_command();
    nodes_[which]->tell(swim::forget_command{id, name_of(subject)});
  });
}

std::span<const std::uint8_t> cluster::encode(node_id from, const swim::packet& what,
                                              std::size_t limit) {
  encoded_.clear();
  codec_.encode(what, encoded_);
  if (encoded_.size() > size_bound(what) + codec_.overhead()) {
    broken.add(from, "an encoding exceeds its size bound");
  }
  if (encoded_.size() > limit) {
    broken.add(from, "a packet of " + std::to_string(encoded_.size()) + " bytes exceeds " +
                         std::to_string(limit));
  }
  return encoded_;
}

void cluster::send(node_id from, const endpoint& to, const swim::packet& what) {
  const auto bytes = encode(from, what, options_.profile.machine.limits.datagram);
  largest_datagram_ = std::max(largest_datagram_, bytes.size());
  for (observer* who : observers_)
    who->on_sent(from, what, bytes.size(), false);
  if (!hosts.blocked(from)) return network.send(from, to, bytes);
  hosts.emit(from, [this, from, to, kept = encoded_] { network.send(from, to, kept); });
}

void cluster::send_frame(node_id from, swim::stream_id stream, const swim::packet& what) {
  // A user message of the greatest size is a frame of its own; all else keeps to the budget.
  const bool is_message = std::holds_alternative<swim::user_message>(what.body);
  const std::size_t limit = is_message ? wire::packet_max : options_.profile.machine.frame_budget;
  const auto bytes = encode(from, what, limit);
  for (observer* who : observers_)
    who->on_sent(from, what, bytes.size(), true);
  hosts.emit(from,
             [this, from, stream, kept = std::vector<std::uint8_t>(bytes.begin(), bytes.end())] {
               streams.send(from, stream, kept);
             });
}

void cluster::open_stream(node_id from, const swim::open_stream& what) {
  hosts.emit(from, [this, from, what] { streams.open(from, what.stream, what.to, what.deadline); });
}

void cluster::close_stream(node_id from, swim::stream_id stream) {
  hosts.emit(from, [this, from, stream] { streams.close(from, stream); });
}

void cluster::resolve(node_id from, const std::string& seed) {
  const auto life = hosts.life(from);
  world.after(std::chrono::milliseconds{1}, [this, from, seed, life] {
    if (!hosts.running(from) || hosts.life(from) != life) return;
    swim::seed_resolved answer{seed, {}, {}};
    if (const node_id found = node_of(seed); found != 0 && found <= size()) {
      answer.addresses.push_back(hosts.address(found));
    } else {
      answer.error = make_error_code(errc::unreachable);
    }
    hosts.deliver(from, 0, [this, from, answer] { nodes_[from]->tell(answer); });
  });
}

bool cluster::decode(node_id at, std::span<const std::uint8_t> bytes, swim::packet& into) {
  const auto error = codec_.decode(bytes, into);
  if (error == wire::decode_error::none) return true;
  broken.add(at, "a packet can't be read back: " + std::string(wire::to_string(error)));
  return false;
}

void cluster::receive(node_id to, const endpoint& from, std::span<const std::uint8_t> bytes) {
  trace.note(to, heard_datagram, bytes);
  if (decode(to, bytes, received_)) nodes_[to]->tell_packet(from, received_);
}

void cluster::on_opened(node_id node, swim::stream_id stream) {
  nodes_[node]->tell(swim::stream_opened{stream});
}

void cluster::on_accepted(node_id node, swim::stream_id stream, const endpoint& from) {
  nodes_[node]->tell(swim::stream_accepted{stream, from});
}

void cluster::on_frame(node_id node, swim::stream_id stream, std::span<const std::uint8_t> bytes) {
  trace.note(node, heard_frame, bytes);
  if (decode(node, bytes, received_)) nodes_[node]->tell_frame(stream, received_);
}

void cluster::on_ended(node_id node, swim::stream_id stream, std::error_code error) {
  nodes_[node]->tell(swim::stream_ended{stream, error});
}

void cluster::event(node_id at, const swim::member_changed& what) {
  const auto about = what.subject ? node_of(what.subject->name) : at;
  trace.note(at, happened, (std::uint64_t{about} << 8) | static_cast<std::uint64_t>(what.kind));
  if (trace.prints()) {
    trace.line(at, std::string(to_string(what.kind)) + " node-" + std::to_string(about) +
                       " epoch " + std::to_string(what.subject ? what.subject->epoch : 0) +
                       " incarnation " + std::to_string(what.incarnation));
  }
  for (observer* who : observers_)
    who->on_event(at, what);
}

void cluster::completed(node_id at, const swim::completed& what) {
  trace.note(at, done,
             static_cast<std::uint64_t>(what.command) * 1000 +
                 static_cast<std::uint64_t>(what.error.value()));
  if (trace.prints()) {
    trace.line(at, "command " + std::to_string(static_cast<std::uint64_t>(what.command)) + ": " +
                       (what.error ? what.error.message() : "done") + ", count " +
                       std::to_string(what.count) + (what.lookups.empty() ? "" : ", ") +
                       what.lookups + (what.detail.empty() ? "" : ", ") + what.detail);
  }
  for (observer* who : observers_)
    who->on_completed(at, what);
}

void cluster::user_message(node_id at, const swim::user_received& what) {
  trace.note(at, said, crc32(what.payload));
  if (trace.prints()) trace.line(at, "hears \"" + what.payload + "\" from " + what.from);
  for (observer* who : observers_)
    who->on_user_message(at, what);
}

void cluster::stepped(node_id at, const swim::packet* heard) {
  for (observer* who : observers_)
    who->on_step(at, heard);
}

}  // namespace lifering::sim
