// Messages of an application to all members: gossiped, delivered once, and pulled by whoever missed
// one. A member's record carries the number of its last broadcast, so a gap is seen wherever the
// record is held.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "swim/core.hpp"
#include "swim/membership.hpp"

namespace lifering::swim {

class broadcaster {
 public:
  broadcaster(core& shared, membership& members) : shared_(shared), members_(members) {}

  /// The longest payload that a datagram of any member takes.
  std::size_t payload_max() const;

  /// Sends to all. False if it is longer than that.
  bool send(const std::string& payload);

  void on_broadcast(const broadcast& heard);
  void on_pull(row_id by, const broadcast_pull& asked);

  /// A record was accepted; `unknown` if nothing was held under its name before.
  void on_record(row_id id, bool unknown);

  void advance();
  base::time_point next_deadline() const noexcept { return next_pull_; }

 private:
  /// What was delivered of one life's broadcasts.
  struct progress {
    std::uint64_t name = 0;  ///< Hash, since rows are reused.
    std::uint64_t epoch = 0;
    std::uint64_t delivered = 0;  ///< All up to here.
    std::uint64_t later = 0;      ///< Bit i: delivered + 1 + i was.
    std::uint64_t sent = 0;       ///< The last that its origin is known to have sent.
    unsigned pulls = 0;
    base::time_point pull_at = base::never;
  };

  progress& progress_of(row_id id);
  bool mark(progress& of, std::uint64_t sequence);
  void expect_more(progress& of);
  void pull(row_id id, progress& of);

  core& shared_;
  membership& members_;
  std::map<row_id, progress> progress_;  ///< Of those that ever broadcast.
  base::time_point next_pull_ = base::never;

  static constexpr unsigned window = 64;        ///< Broadcasts that may be delivered out of order.
  static constexpr unsigned pulls_max = 16;     ///< Then what is missing is given up, and counted.
  static constexpr std::size_t answer_max = 8;  ///< Datagrams that answer one pull.
};

}  // namespace lifering::swim
