// What members send, by member and second.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/cluster.hpp"
#include "sim/observer.hpp"

namespace lifering::sim {

/// Samples of one quantity; exact, as the values are small whole numbers.
class distribution {
 public:
  void add(std::uint64_t value, std::uint64_t times = 1);
  std::uint64_t count() const noexcept { return count_; }
  double mean() const;
  std::uint64_t max() const;
  /// The least value that this many hundredths of the samples don't exceed; 0 without samples.
  std::uint64_t percentile(unsigned hundredths) const;

 private:
  std::map<std::uint64_t, std::uint64_t> samples_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
};

/// Datagrams sent (packets), and bytes of datagrams and frames without the headers below them.
class traffic final : public observer {
 public:
  explicit traffic(cluster& of);

  const distribution& packets() const noexcept { return packets_; }
  const distribution& bytes() const noexcept { return bytes_; }

  /// Totals over all members so far, for means over a part of the run.
  struct totals {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t member_seconds = 0;
  };
  const totals& so_far() const noexcept { return totals_; }

  void on_sent(node_id from, const swim::packet& what, std::size_t bytes, bool stream) override;

 private:
  void fold();

  cluster& cluster_;
  distribution packets_;
  distribution bytes_;
  totals totals_;
  std::vector<std::uint64_t> packets_now_;  // This second, by node_id.
  std::vector<std::uint64_t> bytes_now_;
};

}  // namespace lifering::sim
