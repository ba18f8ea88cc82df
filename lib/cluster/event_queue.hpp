// Events on their way to the application: in order, bounded, with the last state always right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/event.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <variant>

namespace lifering::cluster_detail {

/// What an observer knew of a present member before a change.
struct seen_state {
  member_state state = member_state::alive;
  std::uint64_t epoch = 0;
};

/// A change of one member. `before` is empty if it was not present.
struct member_change {
  event_kind kind{};
  std::chrono::system_clock::time_point time;
  std::optional<seen_state> before;
  std::shared_ptr<const member> after;
};

/// A queue that takes every event and stays bounded.
///
/// When it is full, a new event of a member is folded into the one that waits for the same member,
/// so that the application learns the difference between what it last saw and what is true now. If
/// that is nothing (it came and went unseen), both disappear. Since at most one event of a member
/// is added beyond the limit, the queue never holds more than its limit and one event for each
/// member that the application knows or that is present. Likewise for the ring's events, whose
/// moved shares are added up.
///
/// Numbers are given on the way out, so that the application sees no gap. Not thread-safe.
class event_queue {
 public:
  explicit event_queue(std::size_t limit) : limit_(limit) {}

  void push(member_change change);
  void push(const ring_event& change);

  /// The next event with its number, or nothing.
  std::optional<event> pop();

  std::size_t size() const noexcept { return entries_.size(); }

  /// Events that were folded into others, those that disappeared among them.
  std::uint64_t merged() const noexcept { return merged_; }

 private:
  struct entry {
    std::variant<member_change, ring_event> value;
    std::uint32_t merged = 0;  ///< Of a member: earlier changes that were folded into this one.
  };
  using position = std::list<entry>::iterator;

  /// True if the change was dealt with by what waits.
  bool merge(member_change& change, position waiting);
  void add(member_change change, std::uint32_t merged);

  std::size_t limit_;
  std::list<entry> entries_;
  /// By the name in the entry. Looked up only, never iterated.
  std::unordered_map<std::string_view, position> last_of_member_;
  std::optional<position> last_of_ring_;
  std::uint64_t last_number_ = 0;
  std::uint64_t merged_ = 0;
};

}  // namespace lifering::cluster_detail
