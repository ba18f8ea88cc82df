#include "sim/node.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "sim/cluster.hpp"

namespace lifering::sim {
namespace {

/// A machine that wants to be woken this often at one moment would spin for ever.
constexpr unsigned wakes_at_once_max = 1000;

template <class... Handlers>
struct overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
overloaded(Handlers...) -> overloaded<Handlers...>;

}  // namespace

void node::start(swim::config settings, swim::record self, base::rng random) {
  LIFERING_CHECK(!machine_);
  machine_.emplace(std::move(settings), std::move(self), random, clock());
  last_command_.reset();
  armed_ = base::never;
}

void node::stop() noexcept {
  machine_.reset();
}

void node::tell_packet(const endpoint& from, const swim::packet& content) {
  machine_->handle(clock(), swim::packet_received{from, content}, effects());
  settle(&content);
}

void node::tell_frame(swim::stream_id stream, const swim::packet& content) {
  machine_->handle(clock(), swim::stream_received{stream, content}, effects());
  settle(&content);
}

void node::wake() {
  if (!machine_ || machine_->next_deadline() > clock()) return;
  wakes_at_once_ = last_wake_ == clock() ? wakes_at_once_ + 1 : 0;
  last_wake_ = clock();
  if (wakes_at_once_ > wakes_at_once_max) {
    cluster_.broken.add(id_, "the machine asks to be woken again and again at one moment");
    return stop();
  }
  machine_->advance(clock(), effects());
  settle(nullptr);
}

void node::arm() {
  if (!machine_) return;
  const time_point wanted = std::max(machine_->next_deadline(), clock());
  if (wanted >= armed_) return;  // An earlier wake-up will look again.
  armed_ = wanted;
  cluster_.world.at(wanted, [this, life = cluster_.hosts.life(id_)] {
    if (!machine_ || life != cluster_.hosts.life(id_)) return;
    if (armed_ == clock()) armed_ = base::never;
    if (cluster_.hosts.paused(id_)) return;  // The end of the pause wakes it.
    wake();
    arm();
  });
}

time_point node::clock() const noexcept {
  return cluster_.world.now();
}

swim::effects& node::effects() const noexcept {
  return cluster_.effects();
}

void node::settle(const swim::packet* heard) {
  // Nothing that is carried out calls a machine before this returns: the network takes its time.
  bool ends = false;
  for (const swim::effect& effect : effects().list())
    ends = carry_out(effect) || ends;
  effects().clear();
  cluster_.stepped(id_, heard);
  if (ends) {
    cluster_.stop(id_, presence::refusing);
  } else {
    arm();
  }
}

bool node::carry_out(const swim::effect& effect) {
  return std::visit(overloaded{
                        [&](const swim::send_datagram& what) {
                          cluster_.send(id_, what.to, effects().packet_at(what.packet));
                          return false;
                        },
                        [&](const swim::send_frame& what) {
                          cluster_.send_frame(id_, what.stream, effects().packet_at(what.packet));
                          return false;
                        },
                        [&](const swim::open_stream& what) {
                          cluster_.open_stream(id_, what);
                          return false;
                        },
                        [&](const swim::close_stream& what) {
                          cluster_.close_stream(id_, what.stream);
                          return false;
                        },
                        [&](const swim::resolve_seed& what) {
                          cluster_.resolve(id_, what.seed);
                          return false;
                        },
                        [&](const swim::member_changed& what) {
                          cluster_.event(id_, what);
                          return what.kind == event_kind::superseded;
                        },
                        [&](const swim::member_renewed&) { return false; },
                        [&](const swim::completed& what) {
                          cluster_.completed(id_, what);
                          return last_command_ == what.command;
                        },
                        [&](const swim::user_received& what) {
                          cluster_.user_message(id_, what);
                          return false;
                        },
                    },
                    effect);
}

}  // namespace lifering::sim
