// The invariants, checked at every step of every run.
//
// Each rule is a function of what it judges, so that its own test can hand it a bad history; the
// class below gathers histories from a running cluster and hands them to the rules. Rules about the
// order of events are in views.hpp, about one value per incarnation in record_pool.hpp, about sizes
// of packets in cluster.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/cluster.hpp"
#include "sim/observer.hpp"
#include "sim/views.hpp"
#include "swim/evidence.hpp"

namespace lifering::sim {

// The rules. Each returns what is wrong, or nothing.

/// What one member has on record of another never goes back: newer lives, then incarnations, then
/// alive < suspect < failed, and leaving is final. A present member isn't forgotten.
std::string_view broken_record(const std::optional<swim::evidence>& before,
                               const std::optional<swim::evidence>& now) noexcept;

/// A member that runs lists itself as alive, or as left while it says goodbye.
std::string_view broken_self(const std::optional<swim::evidence>& own, bool leaving,
                             bool held_down = false) noexcept;

/// The sizes of a machine's tables against their limits.
struct table_sizes {
  std::size_t present = 0;
  std::size_t graves = 0;
  std::size_t queued = 0;
  std::size_t suspicions = 0;
  unsigned health = 0;
};
std::string_view broken_limit(const table_sizes& sizes, const swim::config& limits) noexcept;

/// The view that events told equals the view that the machine holds, and so does the ring.
std::string_view broken_view(const views::sums& told, const views::sums& held) noexcept;

class checkers final : public observer {
 public:
  /// Rows are followed one by one up to this many members; beyond, their history would take more
  /// memory than the machines, and the rules about events have to do.
  static constexpr node_id rows_followed = 3000;

  checkers(cluster& of, const views& told);

  /// The operator has this member forgotten: its rows may go.
  void may_be_forgotten(node_id subject) { forgettable_[subject] = true; }

  std::uint64_t checks() const noexcept { return checks_; }

  void on_started(node_id which) override;
  void on_step(node_id at, const swim::packet* heard) override;

 private:
  struct cell {
    std::uint64_t epoch = 0;
    std::uint32_t incarnation = 0;
    member_state state = member_state::alive;
    bool known = false;
  };
  struct state {
    std::vector<cell> cells;  // By subject.
    node_id next_row = 1;
    unsigned steps = 0;
  };

  void check_row(node_id at, node_id subject);
  void check_rows_heard(node_id at, const swim::packet& heard);
  void check_sizes(node_id at);
  void check_view(node_id at);

  cluster& cluster_;
  const views& told_;
  std::vector<state> nodes_;
  std::vector<bool> forgettable_;
  std::vector<std::string> names_;
  std::uint64_t checks_ = 0;
};

}  // namespace lifering::sim
