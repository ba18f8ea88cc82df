// Metadata that is too large to ride in gossip: a record then carries its hash, and whoever takes
// the record in pulls the bytes by stream, from the member itself or from any other that has them.
#pragma once

#include <cstdint>
#include <vector>

#include "swim/core.hpp"
#include "swim/membership.hpp"
#include "swim/synchronizer.hpp"

namespace lifering::swim {

class metadata_puller {
 public:
  metadata_puller(core& shared, membership& members, synchronizer& streams) noexcept
      : shared_(shared), members_(members), streams_(streams) {}

  /// A record was accepted; pulls its metadata if that is lacking.
  void on_record(row_id id);

  void advance();
  base::time_point next_deadline() const noexcept;
  void stop() noexcept { wanted_.clear(); }

 private:
  struct want {
    row_id id = no_row;
    std::uint64_t epoch = 0;
    std::uint64_t hash = 0;
    base::time_point next_try{};
    unsigned tries = 0;
    bool under_way = false;
  };

  bool still_wanted(const want& what) const noexcept;
  void pull(want& what);
  void ended(row_id id, std::uint64_t hash);

  core& shared_;
  membership& members_;
  synchronizer& streams_;
  std::vector<want> wanted_;  ///< One a row at most.
  std::size_t under_way_ = 0;

  /// A burst of changes must not take all streams.
  static constexpr std::size_t at_once = 4;
};

}  // namespace lifering::swim
