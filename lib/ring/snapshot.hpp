// A snapshot: the ring of one set of nodes, immutable, with all that readers ask of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/hash.hpp>
#include <lifering/ring.hpp>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ring/crc32.hpp"
#include "ring/foreign.hpp"
#include "ring/label.hpp"
#include "ring/node_set.hpp"
#include "ring/point_table.hpp"
#include "ring/slot_table.hpp"

namespace lifering::ring_detail {

/// What all snapshots of one ring share.
struct ring_rules {
  explicit ring_rules(placement_options given);

  placement_options options;
  label_format label;
  hash_function hash;             ///< Null where another system's rule finds the place.
  crc32_many_function hash_many;  ///< Null for a custom hash.
  std::uint32_t vnodes;
  std::uint64_t placement_id;
  bool mixes;
  bool has_slots;
};

class snapshot : public std::enable_shared_from_this<snapshot> {
 public:
  /// The empty ring, version 0.
  explicit snapshot(std::shared_ptr<const ring_rules> rules);

  /// The ring of `nodes`, made from `old`, which it may share records with. `moved` receives how
  /// much of the circle changed owner. Time in proportion to the tables' bytes if few nodes differ.
  snapshot(const snapshot& old, node_set nodes, std::uint64_t& moved);

  snapshot(const snapshot&) = delete;
  snapshot& operator=(const snapshot&) = delete;

  /// Whether a set of nodes is within points_max.
  static bool fits(const ring_rules& rules, const node_set& nodes);

  std::uint32_t place(std::string_view key) const noexcept {
    if (hash_ == nullptr) [[unlikely]] {
      return foreign_->place(key);
    }
    const std::uint32_t hash = hash_(key);
    return mixes_ ? mix32(hash) : hash;
  }
  const ring_node* owner_at(std::uint32_t place) const noexcept {
    return owners_[has_slots_ ? segments_.table.slot_at(place) : points_.slot_at(place)];
  }

  /// The owners of many keys at once.
  void owners_of(std::span<const std::string_view> keys, const ring_node** owners) const noexcept;

  const ring_rules& rules() const noexcept { return *rules_; }
  const node_set& records() const noexcept { return nodes_; }
  std::span<const ring_node* const> nodes() const noexcept { return sorted_; }
  const ring_node* in_slot(std::size_t slot) const noexcept { return owners_[slot]; }
  std::size_t slots_end() const noexcept { return owners_.size(); }
  bool has_slots() const noexcept { return has_slots_; }
  const point_table& point_ring() const noexcept { return points_; }
  const slot_table& segments() const noexcept { return segments_.table; }
  const rendezvous& scores() const noexcept { return scores_; }

  const foreign_table* foreign() const noexcept { return foreign_.get(); }  ///< Or null.

  /// Of positive weight; in another system's ring, those that have a point.
  std::size_t owning_nodes() const noexcept { return owning_nodes_; }
  std::uint64_t weights() const noexcept { return weights_; }  ///< Their sum, in thousandths.
  std::size_t zones() const noexcept { return zones_; }        ///< Distinct ones among them.

  std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  std::uint64_t version() const noexcept { return version_; }
  std::size_t bytes() const noexcept;
  std::size_t size_in_points() const noexcept {
    return has_slots_ ? segments_.table.size() : points_.size();
  }

 private:
  struct difference;

  void take_stock();
  void give_slots(const snapshot& old, const difference& changes);
  void renumber();
  std::uint64_t build(const snapshot& old);
  std::uint64_t edit(const snapshot& old, const difference& changes);
  void build_points();
  void build_foreign();
  void edit_segments(const snapshot& old, const difference& changes);
  std::uint64_t moved_segments(const snapshot& old) const;
  std::uint64_t edit_points(const snapshot& old, const difference& changes);
  std::uint64_t moved_at(const snapshot& old, const std::vector<std::uint32_t>& places) const;
  void append_points(std::size_t node, std::uint32_t first, std::uint32_t last,
                     std::vector<point>& points) const;

  // What a lookup reads comes first.
  hash_function hash_;
  bool mixes_;
  bool has_slots_;
  point_table points_;
  slot_state segments_;
  std::unique_ptr<const foreign_table> foreign_;
  std::vector<const ring_node*> owners_;  ///< By slot; slot 0 is nobody.

  std::shared_ptr<const ring_rules> rules_;
  node_set nodes_;
  std::vector<const ring_node*> sorted_;  ///< Of nodes_, in their order.
  std::vector<std::uint32_t> slots_;      ///< Of nodes_, in their order.
  rendezvous scores_;                     ///< `slots` only.
  std::size_t owning_nodes_ = 0;
  std::uint64_t weights_ = 0;
  std::size_t zones_ = 0;
  std::uint64_t fingerprint_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace lifering::ring_detail
