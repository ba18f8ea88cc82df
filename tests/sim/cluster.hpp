// A simulated cluster: the world, its network and hosts, and the members that live there.
#pragma once

#include <cstdint>
#include <lifering/endpoint.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "sim/faults.hpp"
#include "sim/hosts.hpp"
#include "sim/network.hpp"
#include "sim/node.hpp"
#include "sim/observer.hpp"
#include "sim/profile.hpp"
#include "sim/record_pool.hpp"
#include "sim/streams.hpp"
#include "sim/trace.hpp"
#include "sim/violations.hpp"
#include "sim/world.hpp"
#include "wire/codec.hpp"

namespace lifering::sim {

struct cluster_options {
  node_id nodes = 1;
  std::uint64_t seed = 1;
  sim::profile profile{};
  node_set seeds{1};  ///< Whom everybody joins.
};

class cluster final : private stream_user {
 public:
  explicit cluster(const cluster_options& options);
  ~cluster() override;

  // The parts.

  sim::world world{};
  violations broken{world};  ///< Invariants found broken.
  sim::faults faults;
  sim::hosts hosts;
  sim::network network;
  sim::streams streams;
  sim::trace trace{world};
  record_pool pool;

  node_id size() const noexcept { return options_.nodes; }
  const cluster_options& options() const noexcept { return options_; }
  node& at(node_id which) { return *nodes_[which]; }
  const node& at(node_id which) const { return *nodes_[which]; }
  bool running(node_id which) const { return nodes_[which]->running(); }

  /// Watches from now on; must outlive the run.
  void watch(observer& who) { observers_.push_back(&who); }

  // What scenarios do.

  /// Every member starts with a full view; nobody joins.
  void start_formed();
  /// A process starts and joins the seeds. Again after an end: same name, new life.
  void start(node_id which, bool moved = false);
  /// The process ends without a word. `refusing`: its host lives on; `silent`: it is gone too.
  void stop(node_id which, presence left_behind);
  void leave(node_id which);
  void pause(node_id which, duration time);
  /// Paused again and again, as on a machine that has too much to do.
  void jerk(node_id which, duration awake, duration asleep, duration time);
  void block(node_id which, duration time);
  void update(node_id which, swim::update_command change);
  void broadcast(node_id which, const std::string& payload);
  void forget(node_id which, node_id subject);

  /// What this member says of itself when it starts next; for zones, weights and the like.
  swim::record& initial(node_id which) { return initial_[which]; }

  // For node.

  swim::effects& effects() noexcept { return effects_; }
  void send(node_id from, const endpoint& to, const swim::packet& what);
  void send_frame(node_id from, swim::stream_id stream, const swim::packet& what);
  void open_stream(node_id from, const swim::open_stream& what);
  void close_stream(node_id from, swim::stream_id stream);
  void resolve(node_id from, const std::string& seed);
  void event(node_id at, const swim::member_changed& what);
  void completed(node_id at, const swim::completed& what);
  void user_message(node_id at, const swim::user_received& what);
  void stepped(node_id at, const swim::packet* heard);

  std::size_t largest_datagram() const noexcept { return largest_datagram_; }

  static constexpr duration join_deadline = std::chrono::seconds{10};
  static constexpr duration leave_deadline = std::chrono::seconds{10};

 private:
  void receive(node_id to, const endpoint& from, std::span<const std::uint8_t> bytes);
  void on_opened(node_id node, swim::stream_id stream) override;
  void on_accepted(node_id node, swim::stream_id stream, const endpoint& from) override;
  void on_frame(node_id node, swim::stream_id stream, std::span<const std::uint8_t> bytes) override;
  void on_ended(node_id node, swim::stream_id stream, std::error_code error) override;

  swim::config settings_of(node_id which);
  swim::record record_of(node_id which) const;
  base::rng random_of(node_id which) const;
  void boot(node_id which, bool moved, std::uint64_t epoch);
  std::span<const std::uint8_t> encode(node_id from, const swim::packet& what, std::size_t limit);
  bool decode(node_id at, std::span<const std::uint8_t> bytes, swim::packet& into);
  void wake_up(node_id which);

  cluster_options options_;
  base::rng random_;
  wire::codec codec_;
  std::vector<std::unique_ptr<node>> nodes_;  // By node_id; slot 0 is empty.
  std::vector<swim::record> initial_;
  std::vector<observer*> observers_;
  swim::effects effects_;
  swim::packet received_;
  std::vector<std::uint8_t> encoded_;
  std::size_t largest_datagram_ = 0;
};

}  // namespace lifering::sim
