// One shared copy of every record in a simulation, and what of it the comparisons need.
//
// All machines intern what they receive here, so that a row of a view costs a pointer and not a
// record, and 10,000 full views fit. The pool is also the witness for "one metadata value per
// incarnation": it sees every record that was ever told to anyone.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <lifering/ring.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sim/node_set.hpp"
#include "swim/record.hpp"

namespace lifering::sim {

/// The name of a simulated member: "node-7". The inverse gives 0 for any other text.
std::string name_of(node_id node);
node_id node_of(std::string_view name) noexcept;

/// A record with its parts in the sums that stand for whole views.
struct pooled {
  swim::record_ptr value;
  node_id node = 0;
  std::uint32_t index = 0;
  std::uint64_t content = 0;  ///< A hash of all but the incarnation.
  std::uint64_t share = 0;    ///< A hash of what decides ownership.
};

/// What a record contributes to a ring: members that don't serve own nothing.
ring_node ring_node_of(const swim::record& from);

class record_pool {
 public:
  /// Told of two different records for one (name, epoch, incarnation).
  using conflict = std::function<void(const swim::record& first, const swim::record& second)>;
  explicit record_pool(conflict on_conflict);

  /// The shared copy of a record.
  const pooled& intern(const swim::record_ptr& given);

  const pooled& at(std::uint32_t index) const { return entries_[index]; }
  std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct key {
    node_id node;
    std::uint64_t epoch;
    std::uint64_t incarnation;
    bool lacks_metadata;
    friend bool operator==(const key&, const key&) = default;
  };
  struct key_hash {
    std::size_t operator()(const key& value) const noexcept;
  };

  const pooled& add(const swim::record_ptr& given, node_id node);

  conflict on_conflict_;
  std::deque<pooled> entries_;  // Their addresses stay.
  std::unordered_map<key, std::uint32_t, key_hash> by_key_;
};

}  // namespace lifering::sim
