// How often things really occurred, so that a sweep can prove that it saw them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/cluster.hpp"
#include "sim/observer.hpp"
#include "swim/stats.hpp"

namespace lifering::sim {

using counts = std::map<std::string, std::uint64_t>;

class tally final : public observer {
 public:
  explicit tally(cluster& of) : cluster_(of) {}

  /// Counts something that a scenario did.
  void add(const std::string& what, std::uint64_t times = 1) { done_[what] += times; }

  /// Everything by name: what scenarios did, what the network did, what all machines counted, those
  /// included that have ended.
  counts all() const;

  void on_stopping(node_id which) override;

 private:
  cluster& cluster_;
  counts done_;
  counts machines_;
};

}  // namespace lifering::sim
