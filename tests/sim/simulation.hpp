// One run of one scenario with one seed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/checkers.hpp"
#include "sim/chronicle.hpp"
#include "sim/cluster.hpp"
#include "sim/disagreement.hpp"
#include "sim/expectations.hpp"
#include "sim/scenario.hpp"
#include "sim/tally.hpp"
#include "sim/traffic.hpp"
#include "sim/views.hpp"

namespace lifering::sim {

/// What a run is to be judged and counted by. Durations in seconds are for people; nothing is
/// decided by them.
struct result {
  std::string scenario;
  std::uint64_t seed = 0;
  std::vector<std::string> masked;  ///< Faults that were drawn, but left out.
  double virtual_s = 0;
  double wall_s = 0;  ///< Filled in by who has a clock.
  bool converged = false;
  std::optional<double> agree_s;
  struct crash {
    node_id node = 0;
    double at_s = 0;
    std::optional<double> first_s;
    std::optional<double> all_s;
  };
  std::vector<crash> crashes;
  std::uint64_t false_failures = 0;
  std::uint64_t false_failure_observers = 0;
  std::map<std::string, std::uint64_t> events;
  std::uint64_t fingerprints_max = 0;
  distribution ring_versions;
  distribution packets_per_s;
  distribution bytes_per_s;
  std::uint64_t largest_datagram = 0;
  double disagreement_s = 0;
  std::vector<verdict> expectations;
  std::vector<violation> violations;
  std::uint64_t violation_count = 0;

  std::uint64_t trace = 0;
  std::map<std::string, std::uint64_t> counters;  ///< What really happened, by name.

  bool passed() const;
};

class simulation {
 public:
  /// `given` is concrete: see drawn_from().
  simulation(const scenario& given, std::uint64_t seed);

  /// Each thing that happens becomes a line.
  void print_to(trace::sink lines) { cluster_.trace.print_to(std::move(lines)); }

  result run();

  cluster& of() noexcept { return cluster_; }

 private:
  void begin();
  void schedule();
  void happen(const happening& what);
  void happen_to(const happening& what, node_id which);
  void forget(const node_set& by, node_id which);
  void cut(const happening& what);
  void set_loss(const happening& what, node_id which);
  void check_agreement_bound();
  std::vector<base::duration> disturbances() const;
  result report();

  const scenario& scenario_;
  std::uint64_t seed_;
  cluster cluster_;
  views views_;
  chronicle chronicle_;
  checkers checkers_;
  disagreement disagreement_;
  traffic traffic_;
  expectations expectations_;
  tally tally_;
  std::vector<std::uint32_t> loss_changes_;  // By node_id: which change of its loss was the last.
};

}  // namespace lifering::sim
