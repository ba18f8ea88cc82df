// Agreement by digest: when a peer's view digest differs from ours and no news explains it, the two
// find out in a few datagrams which members they hold differently, and exchange only those.
//
//     view_compare   our digest of each bucket           ->
//                <-  view_summary   hashes of the members in the buckets that differ
//     view_delta     what the peer lacks, what we want   ->
//                <-  view_delta   what we wanted, what we hold too old
//
// What would take more than a few datagrams travels as a whole view on a stream instead.
#pragma once

#include <cstdint>
#include <vector>

#include "swim/core.hpp"
#include "swim/membership.hpp"
#include "swim/synchronizer.hpp"

namespace lifering::swim {

class reconciler {
 public:
  reconciler(core& shared, membership& members, synchronizer& streams);

  /// A peer's packet carried another digest than ours; it knows that many present members.
  void digest_differs(row_id peer, std::uint64_t known_there);

  /// A peer's packet carried the same digest as ours.
  void digest_agrees() noexcept { awaited_ = no_row; }

  /// Asks whoever listens there to compare views with us, whom it need not know: a join by
  /// datagrams, where a stream takes seconds to get through.
  void knock(const endpoint& at);

  /// Tells a member that was admitted just now, and knows few of us, whom we know.
  void welcome(row_id peer, std::uint64_t known_there);

  /// Shows somebody the grave of one who failed. Digests tell of the present alone, and the news
  /// that it left, or the answer that it lives, may have gone round when we were out of reach.
  void ask_about(row_id gone);

  /// Asks somebody what has happened while we stood still. If we may have been given up meanwhile,
  /// nobody takes our datagrams for a member's, and it takes a stream.
  void after_stall(bool failed_perhaps);

  void on_compare(row_id peer, std::uint64_t known_there, const view_compare& theirs);
  void on_summary(row_id peer, const view_summary& theirs);
  void on_delta(row_id peer, const view_delta& theirs);

  /// Compares views with somebody now and then, whatever the digests on probes say.
  void advance();
  base::time_point next_deadline() const noexcept;

 private:
  std::size_t room() const;
  void send_compare(row_id peer);
  void compare_with(row_id peer);
  void compare_with_somebody();
  view_compare compare_of(std::size_t bytes) const;
  std::vector<std::vector<row_id>> members_of(const std::vector<bool>& wanted,
                                              std::size_t count) const;
  void send_delta(row_id peer, const std::vector<row_id>& rows,
                  const std::vector<std::uint64_t>& wanted);
  bool may_answer();
  bool periodic() const noexcept;
  base::duration push_pull_period() noexcept;

  core& shared_;
  membership& members_;
  synchronizer& streams_;
  base::time_point next_compare_;
  base::time_point next_push_pull_;
  base::time_point next_refresh_{};  ///< While our view is outdated.
  row_id awaited_ = no_row;          ///< Who was sent a view_compare and hasn't answered yet.
  base::time_point ask_again_{};
  unsigned asked_ = 0;
  base::time_point answers_until_{};
  std::size_t scanned_ = 0;
  unsigned answers_ = 0;
  unsigned fruitless_ = 0;  ///< Compares since our view last changed.

  static constexpr unsigned tries_max = 3;
  static constexpr std::size_t datagrams_max = 8;
  // Bounds, a probe interval, on what others can make us do: answers, and rows looked through for
  // them, which are some milliseconds of work.
  static constexpr unsigned answers_max = 480;
  static constexpr std::size_t scanned_max = std::size_t{256} * 1024;
};

}  // namespace lifering::swim
