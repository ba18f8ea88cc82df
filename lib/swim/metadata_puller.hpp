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
    base::time_point next_try{};    ///< While none is under way.
    base::time_point next_spare{};  ///< While one is.
    unsigned tries = 0;
    unsigned under_way = 0;
  };

  bool still_wanted(const want& what) const noexcept;
  base::time_point due(const want& what) const noexcept;
  void pull(want& what);
  void ended(row_id id, std::uint64_t hash);

  core& shared_;
  membership& members_;
  synchronizer& streams_;
  std::vector<want> wanted_;  ///< One a row at most.
  std::size_t under_way_ = 0;

  /// A burst of changes must not take all streams.
  static constexpr std::size_t at_once = 4;

  /// Streams for one piece of metadata, and spare ones beside those of all. Where packets get lost,
  /// a stream waits longer from one loss to the next, so another soon overtakes it.
  static constexpr unsigned for_one = 3;
  static constexpr std::size_t spare = 4;
};

}  // namespace lifering::swim
