// Suspicions that run: who is suspected, by whom, and until when.
//
// LHA-Suspicion (Lifeguard, section IV-B): a suspicion starts with a long timeout that shrinks as
// independent members confirm it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "swim/member_table.hpp"

namespace lifering::swim {

/// The suspicion timeout after `confirmations` beyond the first accusation, of `expected`:
/// max - (max - min) * log(confirmations + 1) / log(expected + 1), never below min.
base::duration suspicion_timeout(base::duration min, base::duration max, unsigned confirmations,
                                 unsigned expected) noexcept;

/// multiplier * max(1, log10(members)) * interval, the logarithm in thousandths.
base::duration suspicion_minimum(unsigned multiplier, std::size_t members,
                                 base::duration interval) noexcept;

/// A member that says that another one doesn't answer.
struct accuser {
  std::string name;
  std::uint64_t epoch = 0;
  bool refused = false;  ///< It was told by the suspect's host that nobody listens.
};

/// More independent witnesses than this are never asked for.
inline constexpr std::uint32_t witnesses_max = 3;

struct suspicion {
  row_id subject = no_row;
  base::time_point started{};
  base::time_point deadline{};
  std::vector<accuser> accusers;  ///< Distinct; the first started it.

  /// A verdict on the subject that others have reached, if that is what started it: how many
  /// witnesses it rests on, and what it says of the failures before.
  std::uint32_t verdict_witnesses = 0;
  std::uint32_t verdict_failures = 0;

  /// How many witnesses there are, of a verdict or of our own hearing.
  std::size_t witnesses() const noexcept {
    return std::max<std::size_t>(verdict_witnesses, accusers.size());
  }

  /// Counts an accuser once. True if it is new and there was room.
  bool add(std::string_view name, std::uint64_t epoch, bool refused);
  std::size_t refusals() const noexcept;
  bool accused_by(std::string_view name) const noexcept;

  static constexpr std::size_t accusers_max = 8;
};

/// The running suspicions; a handful in a healthy cluster, so linear.
class suspicion_set {
 public:
  suspicion* find(row_id subject) noexcept;
  suspicion& start(row_id subject, base::time_point now);
  void stop(row_id subject) noexcept;

  std::size_t size() const noexcept { return running_.size(); }
  std::span<suspicion> running() noexcept { return running_; }
  base::time_point next_deadline() const noexcept;

  /// Any suspicion that is due, nullptr if there is none.
  suspicion* due(base::time_point now) noexcept;

  /// Moves every deadline: the machine itself didn't run.
  void postpone(base::duration by, base::time_point now) noexcept;

 private:
  std::vector<suspicion> running_;
};

}  // namespace lifering::swim
