// Everybody known: one compact row a member, found by name, with the order in which they are
// probed, the graves of the gone, and a digest over the present.
//
// The table keeps facts and their bookkeeping together; which claim wins is decided by evidence.hpp
// and what follows from it by membership.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "base/slot_index.hpp"
#include "base/time.hpp"
#include "swim/evidence.hpp"
#include "swim/message.hpp"
#include "swim/record.hpp"

namespace lifering::swim {

/// Names a row; stable until the row is erased, then reused.
using row_id = std::uint32_t;
inline constexpr row_id no_row = base::slot_index::none;

struct row {
  record_ptr subject;                 ///< Null in a free slot.
  std::uint64_t incarnation = 0;      ///< Recorded; at least the record's own, never goes down.
  base::time_point since{};           ///< In this state.
  base::time_point heard{};           ///< Last packet of this life that reached us.
  base::time_point failed_at{};       ///< When it was last declared failed, if `failures`.
  std::uint32_t order_slot = no_row;  ///< Place in the probe order; none for ourselves and graves.
  member_state state = member_state::alive;
  bool agrees = false;        ///< Its ring fingerprint equalled ours when last heard.
  bool ever_heard = false;    ///< `heard` means something.
  std::uint8_t failures = 0;  ///< Of this life, as the last verdict counted them (hold_down.hpp).

  bool present() const noexcept {
    return state == member_state::alive || state == member_state::suspect;
  }
  evidence held() const noexcept { return {subject->epoch, incarnation, state}; }
};
static_assert(sizeof(row) <= 64, "10,000 full views of 10,000 members must fit into memory");

class member_table {
 public:
  /// Finds a row by name. O(1).
  row_id find(std::string_view name) const noexcept { return find(name, hash_bytes(name)); }

  const row& at(row_id id) const noexcept { return rows_[id]; }

  /// Slots to iterate over; free ones have a null subject.
  std::size_t slots() const noexcept { return rows_.size(); }

  /// Adds a member whose name is not known yet. `probed` puts it into the probe order at a random
  /// place (SWIM 4.3) while it is present; ourselves are not. `since` is when it came into that
  /// state: of a grave that we are told of, before now.
  row_id insert(record_ptr subject, std::uint64_t incarnation, member_state state, bool probed,
                base::time_point since, base::rng& random);

  /// Replaces what is known of a member. A null record keeps the one held.
  void change(row_id id, record_ptr subject, std::uint64_t incarnation, member_state state,
              base::time_point now, base::rng& random);

  /// Forgets a member altogether.
  void erase(row_id id);

  void mark_failures(row_id id, std::uint32_t failures, base::time_point when) noexcept;

  /// Puts pulled metadata into the record that lacked it.
  void complete(row_id id, record_ptr subject) noexcept { rows_[id].subject = std::move(subject); }

  void mark_heard(row_id id, base::time_point now, bool agrees) noexcept;

  std::size_t present() const noexcept { return present_; }
  std::size_t graves() const noexcept { return size_ - present_; }
  std::uint64_t digest() const noexcept { return digest_; }

  /// The digest of one bucket of `count` (a power of two up to view_buckets_max): the members whose
  /// name's hash is `bucket` modulo `count`.
  std::uint64_t bucket_digest(std::size_t bucket, std::size_t count) const noexcept;

  /// Finds a row by the hash of its name; any of them if several have it.
  row_id find_hash(std::uint64_t name_hash) const noexcept;

  /// The present members but ourselves, in probe order.
  std::span<const row_id> others() const noexcept { return order_; }

  /// The next member to probe: a shuffled round robin, reshuffled each round, so that no member
  /// waits longer than 2n - 1 probes for its turn (SWIM 4.3). no_row if there is none.
  row_id next_in_round(base::rng& random);

  /// A present member but ourselves, uniformly. no_row if there is none.
  row_id random_other(base::rng& random) const;

  /// The oldest grave, no_row if there is none.
  row_id oldest_grave();

  /// A failed (not left) member's grave, uniformly among the newest `within`. no_row if none.
  row_id random_failed(base::rng& random, std::size_t within);

 private:
  // By the hash of the name, which is computed once.
  row_id find(std::string_view name, std::uint64_t hash) const noexcept;
  std::uint64_t hash_of(row_id id) const noexcept { return hash_bytes(rows_[id].subject->name); }
  void bury(row_id id, base::time_point since);
  void enter_order(row_id id, base::rng& random);
  void leave_order(row_id id);
  void count(const row& value, std::uint64_t hash, bool add) noexcept;

  std::deque<row> rows_;  ///< In blocks, since a table that doubles is a quarter empty.
  std::vector<bool> probed_;
  std::vector<row_id> free_;
  base::slot_index index_;  ///< By the hash of the name.
  std::vector<row_id> order_;
  std::size_t cursor_ = 0;
  struct grave {
    row_id id;
    base::time_point since;
  };
  std::deque<grave> graves_;  ///< By time; stale entries are skipped.
  std::size_t size_ = 0;
  std::size_t present_ = 0;
  std::uint64_t digest_ = 0;
  std::array<std::uint64_t, view_buckets_max> buckets_{};
};

}  // namespace lifering::swim
