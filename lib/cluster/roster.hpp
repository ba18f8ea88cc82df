// Who is present: the protocol's news turned into immutable lists of members.
#pragma once

#include <lifering/cluster.hpp>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cluster/event_queue.hpp"

namespace lifering::cluster_detail {

/// All present members, sorted by name. Lists that were given out never change; a change copies the
/// pointers once for each batch. Not thread-safe.
class roster {
 public:
  using list = std::shared_ptr<const member_pointers>;

  /// Takes a member's new state in. Returns what was known of it before, if it was present.
  std::optional<seen_state> apply(std::shared_ptr<const member> subject);

  void clear();

  /// The list as it is now. The next apply() begins another one.
  list publish();

  /// How many changes since the last take_ring_changes() concern the ring: who is in it, weights
  /// and zones.
  std::size_t ring_changes() const noexcept { return ring_changes_; }
  std::size_t take_ring_changes() noexcept;

 private:
  member_pointers& draft();

  list published_ = std::make_shared<const member_pointers>();
  std::shared_ptr<member_pointers> draft_;  ///< What changes, if anything has since publish().
  std::size_t ring_changes_ = 0;
};

/// Where in a sorted list the name is or would be.
member_pointers::const_iterator find_place(const member_pointers& in, std::string_view name);

/// The nodes that these members make: those that serve.
std::vector<ring_node> ring_nodes(const member_pointers& members);

}  // namespace lifering::cluster_detail
