// Whether what a scenario expects came true.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/chronicle.hpp"
#include "sim/cluster.hpp"
#include "sim/disagreement.hpp"
#include "sim/scenario.hpp"
#include "sim/traffic.hpp"
#include "sim/views.hpp"

namespace lifering::sim {

struct verdict {
  int line = 0;
  std::string text;  ///< The expectation, as the scenario language writes it.
  bool met = false;
  std::string detail;  ///< What was seen instead, or how well it was met.
};

/// What expectations are judged by.
struct evidence_of_run {
  cluster& world;
  const views& told;
  chronicle& story;
  const disagreement& rings;
  const traffic& sent;
};

class expectations final : public observer {
 public:
  /// Schedules its looks at the cluster. `disturbances` are the times at which something changes,
  /// ascending.
  expectations(const scenario& from, evidence_of_run run, std::vector<base::duration> disturbances);

  /// To be called once, at the end of the run.
  std::vector<verdict> conclude();

  void on_started(node_id which) override;
  void on_step(node_id at, const swim::packet* heard) override;

 private:
  using item_id = std::size_t;
  struct snapshot {
    double disagreement = 0;
    traffic::totals sent;
    std::vector<std::uint64_t> versions;  // By node_id.
  };

  verdict judge(item_id which);
  verdict judge_agreement(const expectation& item) const;
  verdict judge_absence(const expectation& item) const;
  verdict judge_failures(const expectation& item) const;
  verdict judge_amount(item_id which) const;
  verdict judge_events(const expectation& item) const;
  verdict judge_deliveries(item_id which) const;
  verdict judge_isolation(const expectation& item) const;

  void look_now(item_id which);
  std::string missing(const expectation& item, node_id at, node_id subject) const;
  snapshot take_snapshot() const;
  bool judges(node_id which, time_point since) const;

  const scenario& scenario_;
  evidence_of_run run_;
  std::vector<base::duration> disturbances_;
  std::map<item_id, verdict> early_;       // Decided at their own time.
  std::map<item_id, snapshot> baselines_;  // What was so when `after T` came.
  std::map<item_id, std::uint64_t> worst_health_;
  std::vector<time_point> started_;  // By node_id.
};

}  // namespace lifering::sim
