// Leaving: a goodbye that peers have acknowledged, not one that was merely sent.
#pragma once

#include <cstdint>
#include <system_error>
#include <vector>

#include "swim/core.hpp"
#include "swim/membership.hpp"

namespace lifering::swim {

class farewell {
 public:
  farewell(core& shared, membership& members) : shared_(shared), members_(members) {}

  void leave(const leave_command& asked);
  void cancel(command_id target);

  /// A peer acknowledged a ping of ours; true if it was one that carried the goodbye.
  bool on_ack(std::uint64_t sequence);

  /// The host of a peer says that nobody listens there: that one won't acknowledge.
  void on_refused(const endpoint& address);

  void advance();
  base::time_point next_deadline() const noexcept;

  bool pending() const noexcept { return pending_; }

 private:
  struct notice {
    row_id to = no_row;
    std::uint64_t sequence = 0;
    bool acknowledged = false;
    bool refused = false;
  };

  std::uint32_t reachable(bool also_in_doubt) const;
  void tell_some();
  void finish(std::error_code error);

  core& shared_;
  membership& members_;
  std::vector<notice> notices_;
  command_id id_{};
  base::time_point deadline_{};
  base::time_point next_try_{};
  std::uint32_t acknowledged_ = 0;
  std::uint32_t wanted_ = 0;
  bool pending_ = false;
};

}  // namespace lifering::swim
