// Gossip rounds: news also travels between probes, and the first copies of it at once.
#pragma once

#include <vector>

#include "swim/core.hpp"

namespace lifering::swim {

class disseminator {
 public:
  explicit disseminator(core& shared);

  /// News was queued: sees to a round soon.
  void news_queued();

  void advance();
  base::time_point next_deadline() const noexcept;

 private:
  void round();
  void tell(row_id id);

  /// Until the next round. A packet holds only so many pieces of news: of what fits into one, each
  /// piece goes to gossip_peers members an interval, and of more too, as rounds follow faster.
  base::duration pace(base::duration interval) const noexcept;

  std::size_t fresh() const noexcept;
  std::uint64_t generation() const noexcept;
  bool waiting() const noexcept;

  core& shared_;
  base::time_point next_round_;
  base::time_point next_urgent_;
  base::time_point last_urgent_;
  std::uint64_t untold_ = 0;  ///< The generation whose fresh news could be told nobody.
  std::vector<row_id> targets_;
  std::size_t carried_ = 0;  ///< The most pieces of news in a packet of the last round.
};

}  // namespace lifering::swim
