// How far the members' rings differ, integrated over time.
//
// The real ring is built for every distinct set of members that a watched member publishes, and
// shared among all that hold the same set. At any moment the disagreement is the share of keys on
// which two members drawn at random name different owners; a second in which all pairs differ on
// all keys counts one second.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/cluster.hpp"
#include "sim/observer.hpp"
#include "sim/views.hpp"

namespace lifering::sim {

class disagreement final : public observer {
 public:
  /// Up to this many members, evenly spread, are watched.
  static constexpr std::size_t watched_max = 32;
  /// Places on the circle at which owners are compared.
  static constexpr std::size_t places = 256;
  static constexpr duration resolution = std::chrono::milliseconds{10};

  disagreement(cluster& of, const views& told);

  /// Seconds in all since the world began.
  double integral() const;
  double at_present() const noexcept { return present_; }
  std::uint64_t rings_built() const noexcept { return built_; }

  void on_started(node_id which) override { look(which); }
  void on_stopped(node_id which) override;
  void on_step(node_id at, const swim::packet* heard) override;

 private:
  struct shared_ring {
    std::uint64_t fingerprint = 0;
    std::array<std::uint16_t, places> owners{};
  };
  using ring_pointer = std::shared_ptr<const shared_ring>;

  void look(node_id at);
  ring_pointer ring_of(node_id at);
  void measure_soon();
  void measure();

  cluster& cluster_;
  const views& told_;
  std::vector<node_id> watched_;
  std::vector<std::size_t> place_of_;  // In watched_, by node_id; watched_max for the others.
  std::vector<ring_pointer> rings_;    // Of the watched; null while they don't run.
  std::vector<std::uint64_t> seen_;
  std::map<std::uint64_t, ring_pointer> known_;
  std::map<std::uint64_t, std::uint64_t> by_fingerprint_;
  std::uint64_t built_ = 0;
  double present_ = 0;
  double total_ = 0;
  time_point since_{world_begin};
  bool due_ = false;
};

}  // namespace lifering::sim
