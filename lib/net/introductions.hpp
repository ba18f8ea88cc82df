// Whom to ask for a proof before there is anything else to say. In a sealed cluster two lives drop
// what they hear from each other until they have proved themselves, and while a cluster forms most
// packets are first ones between two members; so members that others have told us of are asked
// early, for their first word to count.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "base/time.hpp"
#include "swim/record.hpp"

namespace lifering::net {

/// Lives that wait for their turn, which comes at random within a time that grows with the cluster:
/// a newcomer is asked by all, and those who form a cluster together ask each other. What forms it
/// goes first.
class introductions {
 public:
  /// Turns begin after `pause`. Beyond `lives_max` none is added: first words ask for proofs by
  /// themselves.
  introductions(std::size_t lives_max, base::duration pause, std::uint64_t seed)
      : lives_max_(lives_max), pause_(pause), random_(seed) {}

  /// `members`: how many there are. Of two, one begins: whoever does `second` has nothing left to
  /// do, as a rule, when its turn comes.
  void add(swim::record_ptr life, std::size_t members, bool second, base::time_point now);

  /// A life whose turn has come or is about to, so that turns share wakes; or null.
  swim::record_ptr take(base::time_point now);

  /// There is more urgent work than we keep up with: all turns are put off by the pause. While a
  /// thousand form a cluster on one machine, their proofs alone would keep them from it.
  void put_off(base::time_point now) noexcept;

  base::time_point next_deadline() const noexcept;
  void clear() noexcept { waiting_.clear(); }

 private:
  struct turn {
    base::time_point due{};
    swim::record_ptr life;
  };
  static bool is_later(const turn& a, const turn& b) noexcept { return a.due > b.due; }

  static constexpr std::chrono::milliseconds for_each_member{30};
  static constexpr std::chrono::milliseconds together{50};

  std::size_t lives_max_;
  base::duration pause_;
  base::rng random_;
  std::vector<turn> waiting_;  // A heap, the next first.
  base::time_point put_off_until_{};
};

}  // namespace lifering::net
