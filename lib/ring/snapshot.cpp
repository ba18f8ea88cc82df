// Making a snapshot out of another one and a set of nodes.
#include "ring/snapshot.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/check.hpp"
#include "ring/arcs.hpp"
#include "ring/mix64.hpp"

namespace lifering::ring_detail {

ring_rules::ring_rules(placement_options given)
    : options(std::move(given)),
      label(label_format::parse(options.label).value()),
      hash(options.foreign ? nullptr
                           : (options.hash != nullptr ? options.hash : crc32_best().hash)),
      hash_many(options.foreign || options.hash != nullptr ? nullptr : crc32_best().run_many),
      vnodes(vnodes_of(options)),
      placement_id(options.id()),
      mixes(options.kind == placement_kind::mixed || options.kind == placement_kind::slots),
      has_slots(options.kind == placement_kind::slots) {}

/// What differs between two sets of nodes, as indices into them.
struct snapshot::difference {
  struct reweighted {
    std::size_t old_index;
    std::size_t new_index;
  };

  std::vector<std::size_t> removed;  ///< Of the old set.
  std::vector<std::size_t> added;    ///< Of the new set.
  std::vector<reweighted> changed;   ///< Same name, another weight.
  std::vector<std::uint32_t> kept;   ///< For each new node its index in the old set, or `none`.

  static constexpr std::uint32_t none = ~std::uint32_t{0};

  difference(const node_set& before, const node_set& after) : kept(after.size(), none) {
    std::size_t old = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      while (old < before.size() && before[old] != after[i] &&
             before[old]->node.name < after[i]->node.name) {
        removed.push_back(old++);
      }
      if (old < before.size() &&
          (before[old] == after[i] || before[old]->node.name == after[i]->node.name)) {
        kept[i] = static_cast<std::uint32_t>(old);
        if (before[old]->node.weight != after[i]->node.weight) {
          changed.push_back({old, i});
        }
        ++old;
      } else {
        added.push_back(i);
      }
    }
    for (; old < before.size(); ++old) {
      removed.push_back(old);
    }
  }
};

namespace {

std::uint64_t fingerprint_of(const ring_rules& rules, std::uint64_t digests, std::size_t nodes) {
  return hash64{4}.add(rules.placement_id).add(digests).add(nodes).value();
}

}  // namespace

bool snapshot::fits(const ring_rules& rules, const node_set& nodes) {
  if (const foreign_rule* foreign = rules.options.foreign.rule()) {
    std::vector<const ring_node*> pointers;
    for (const record_pointer& record : nodes) {
      pointers.push_back(&record->node);
    }
    return foreign->count_points(pointers) <= points_max;
  }
  std::uint64_t points = 0;
  for (const record_pointer& record : nodes) {
    points += rules.has_slots ? 1 : points_of(rules.vnodes, record->node.weight);
  }
  return points <= points_max;
}

snapshot::snapshot(std::shared_ptr<const ring_rules> rules)
    : hash_(rules->hash),
      mixes_(rules->mixes),
      has_slots_(rules->has_slots),
      owners_(1, nullptr),
      rules_(std::move(rules)),
      fingerprint_(fingerprint_of(*rules_, 0, 0)) {
  if (has_slots_) {
    segments_.table = slot_table{rules_->options.segments, owners_.size()};
  } else if (hash_ == nullptr) {
    build_foreign();
  }
}

snapshot::snapshot(const snapshot& old, node_set nodes, std::uint64_t& moved)
    : hash_(old.hash_),
      mixes_(old.mixes_),
      has_slots_(old.has_slots_),
      rules_(old.rules_),
      nodes_(std::move(nodes)),
      version_(old.version_ + 1) {
  take_stock();
  const difference changes{old.nodes_, nodes_};
  const std::size_t touched =
      changes.added.size() + changes.removed.size() + changes.changed.size();
  const bool edits = touched * 8 <= old.nodes_.size() && hash_ != nullptr;
  moved = edits ? edit(old, changes) : build(old);
}

std::uint64_t snapshot::build(const snapshot& old) {
  renumber();
  if (has_slots_) {
    scores_ = rendezvous{nodes_, slots_, rules_->options.segments};
    const std::uint32_t cap = rules_->options.cap;
    segments_ = cap == 0 ? build_slots(scores_, owners_.size())
                         : build_capped_slots(scores_, owners_.size(), cap);
    return moved_segments(old);
  }
  if (hash_ == nullptr) {
    build_foreign();
  } else {
    build_points();
  }
  if (old.points_.size() == 0) {
    return points_.size() == 0 ? 0 : std::uint64_t{1} << 32;
  }
  std::uint64_t moved = 0;
  for (const moved_range& range : compare(arcs_of(old), arcs_of(*this))) {
    moved += range.size();
  }
  return moved;
}

std::uint64_t snapshot::edit(const snapshot& old, const difference& changes) {
  give_slots(old, changes);
  if (!has_slots_) {
    return edit_points(old, changes);
  }
  scores_ = rendezvous{nodes_, slots_, rules_->options.segments};
  if (rules_->options.cap != 0) {
    segments_ = build_capped_slots(scores_, owners_.size(), rules_->options.cap);
  } else {
    edit_segments(old, changes);
  }
  // Kept nodes kept their slots, and no slot was given to another node.
  const std::uint64_t moved = segments_.table.differences(old.segments_.table);
  return moved << (32 - segments_.table.bits());
}

/// All that is summed up over the nodes.
void snapshot::take_stock() {
  std::uint64_t digests = 0;
  std::unordered_set<std::string_view> zones;  // Counted only.
  bool has_zoneless = false;
  sorted_.reserve(nodes_.size());
  for (const record_pointer& record : nodes_) {
    const ring_node& node = record->node;
    sorted_.push_back(&node);
    digests += record->digest;  // A sum, so that the order of nodes doesn't matter.
    if (!node.weight.owns_nothing()) {
      ++owning_nodes_;
      weights_ += node.weight.thousandths();
      if (node.zone.empty()) {
        has_zoneless = true;
      } else {
        zones.insert(node.zone);
      }
    }
  }
  zones_ = zones.size() + (has_zoneless ? 1U : 0U);
  fingerprint_ = fingerprint_of(*rules_, digests, nodes_.size());
}

/// Kept nodes keep their slots, so that tables can be copied; new ones get slots that were free.
void snapshot::give_slots(const snapshot& old, const difference& changes) {
  owners_.assign(old.owners_.size(), nullptr);
  slots_.assign(nodes_.size(), 0);
  std::vector<std::uint32_t> free;
  for (std::size_t slot = old.owners_.size(); slot-- > 1;) {
    if (old.owners_[slot] == nullptr) {
      free.push_back(static_cast<std::uint32_t>(slot));
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (changes.kept[i] != difference::none) {
      slots_[i] = old.slots_[changes.kept[i]];
    } else if (!free.empty()) {
      slots_[i] = free.back();
      free.pop_back();
    } else {
      slots_[i] = static_cast<std::uint32_t>(owners_.size());
      owners_.push_back(nullptr);
    }
    owners_[slots_[i]] = sorted_[i];
  }
}

void snapshot::renumber() {
  owners_.assign(1, nullptr);
  owners_.insert(owners_.end(), sorted_.begin(), sorted_.end());
  slots_.resize(nodes_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i] = static_cast<std::uint32_t>(i + 1);
  }
}

void snapshot::append_points(std::size_t node, std::uint32_t first, std::uint32_t last,
                             std::vector<point>& points) const {
  std::string text;
  for (std::uint32_t i = first; i < last; ++i) {
    rules_->label.write(sorted_[node]->name, i, text);
    points.push_back({place(text), slots_[node]});
  }
}

void snapshot::build_points() {
  std::vector<point> points;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    append_points(i, 0, points_of(rules_->vnodes, sorted_[i]->weight), points);
  }
  sort_by_place(points);  // Equal places stay in the order of names.
  points_ = point_table{points, owners_.size()};
}

/// The other system's points. A change of one node may move those of others there, so this ring is
/// always built from nothing.
void snapshot::build_foreign() {
  std::vector<point> points;
  foreign_ = rules_->options.foreign.rule()->build(sorted_, points);
  // Nodes that the system gives no point take no part in the order of preference.
  std::vector<bool> owns(owners_.size());
  std::unordered_set<std::string_view> zones;  // Counted only.
  owning_nodes_ = 0;
  weights_ = 0;
  for (const point& p : points) {
    if (p.owner != 0 && !owns[p.owner]) {
      owns[p.owner] = true;
      ++owning_nodes_;
      weights_ += owners_[p.owner]->weight.thousandths();
      zones.insert(owners_[p.owner]->zone);
    }
  }
  zones_ = zones.size();
  points_ = point_table{points, owners_.size()};
}

std::uint64_t snapshot::edit_points(const snapshot& old, const difference& changes) {
  std::vector<point> removed;
  std::vector<point> added;
  const std::uint32_t vnodes = rules_->vnodes;
  for (const std::size_t i : changes.removed) {
    old.append_points(i, 0, points_of(vnodes, old.sorted_[i]->weight), removed);
  }
  for (const std::size_t i : changes.added) {
    append_points(i, 0, points_of(vnodes, sorted_[i]->weight), added);
  }
  for (const auto& [before, after] : changes.changed) {
    // The points of a lighter node are the first ones of the same node made heavier.
    const std::uint32_t less = points_of(vnodes, old.sorted_[before]->weight);
    const std::uint32_t more = points_of(vnodes, sorted_[after]->weight);
    append_points(after, std::min(less, more), std::max(less, more), less < more ? added : removed);
  }
  if (removed.empty() && added.empty()) {
    points_ = point_table{old.points_, removed, added, {}, owners_.size()};
    return 0;
  }

  slot_names names(owners_.size());
  for (std::size_t slot = 1; slot < names.size(); ++slot) {
    if (slot < old.owners_.size() && old.owners_[slot] != nullptr) {
      names[slot] = old.owners_[slot]->name;
    } else if (owners_[slot] != nullptr) {
      names[slot] = owners_[slot]->name;
    }
  }
  const auto precedes = [&names](const point& a, const point& b) {
    return a.place != b.place ? a.place < b.place : names[a.owner] < names[b.owner];
  };
  std::sort(removed.begin(), removed.end(), precedes);
  std::sort(added.begin(), added.end(), precedes);
  points_ = point_table{old.points_, removed, added, names, owners_.size()};

  std::vector<std::uint32_t> places;
  places.reserve(removed.size() + added.size());
  for (const auto* list : {&removed, &added}) {
    for (const point& p : *list) {
      places.push_back(p.place);
    }
  }
  return moved_at(old, places);
}

/// How much moved, looking only at the arcs that end at the given places: an arc that ends at a
/// point of both rings has the same owner in both.
std::uint64_t snapshot::moved_at(const snapshot& old,
                                 const std::vector<std::uint32_t>& places) const {
  std::vector<std::uint32_t> ends = places;
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  constexpr std::uint64_t circle = std::uint64_t{1} << 32;
  std::uint64_t moved = 0;
  for (const std::uint32_t end : ends) {
    // The arc reaches back to the nearest point of either ring.
    std::uint64_t length = circle;
    for (const snapshot* state : {&old, this}) {
      if (state->points_.size() != 0) {
        const std::uint32_t reach = end - state->points_.before(end).place;
        length = std::min(length, reach == 0 ? circle : reach);
      }
    }
    const ring_node* from = old.owner_at(end);
    const ring_node* to = owner_at(end);
    if (from == nullptr || to == nullptr ? from != to : from->name != to->name) {
      moved += length;
    }
  }
  return moved;
}

void snapshot::edit_segments(const snapshot& old, const difference& changes) {
  slot_changes segments;
  std::vector<bool> gains(owners_.size());  // By slot.
  for (const std::size_t i : changes.removed) {
    segments.losing.push_back(old.slots_[i]);
  }
  for (const std::size_t i : changes.added) {
    gains[slots_[i]] = true;
  }
  for (const auto& [before, after] : changes.changed) {
    if (old.sorted_[before]->weight < sorted_[after]->weight) {
      gains[slots_[after]] = true;
    } else {
      segments.losing.push_back(slots_[after]);
    }
  }
  for (std::uint32_t node = 0; node < scores_.size(); ++node) {
    if (gains[scores_.slot(node)]) {
      segments.gaining.push_back(node);
    }
  }
  segments_ = edit_slots(old.segments_, segments, scores_, owners_.size());
}

/// How much moved, by a comparison of all segments.
std::uint64_t snapshot::moved_segments(const snapshot& old) const {
  // Of an empty ring all moves, as soon as there is an owner.
  if (old.scores_.size() == 0) return scores_.size() == 0 ? 0 : std::uint64_t{1} << 32;
  // Slots as they would be in this snapshot; an owner that is gone gets a number of nobody's.
  std::vector<std::uint32_t> translated(old.owners_.size(), ~std::uint32_t{0});
  translated[0] = 0;
  for (std::size_t i = 0; i < old.nodes_.size(); ++i) {
    if (const auto [index, found] = find_node(nodes_, old.sorted_[i]->name); found) {
      translated[old.slots_[i]] = slots_[index];
    }
  }
  const slot_table& before = old.segments_.table;
  const slot_table& after = segments_.table;
  std::uint64_t moved = 0;
  for (std::uint32_t segment = 0; segment < after.size(); ++segment) {
    moved += translated[before.get(segment)] != after.get(segment) ? 1U : 0U;
  }
  return moved << (32 - after.bits());
}

void snapshot::owners_of(std::span<const std::string_view> keys,
                         const ring_node** owners) const noexcept {
  // All hashes of a chunk first, then all reads: so many of each are under way at once.
  constexpr std::size_t chunk = 64;
  std::array<std::uint32_t, chunk> places{};
  for (std::size_t first = 0; first < keys.size(); first += chunk) {
    const auto some = keys.subspan(first, std::min(chunk, keys.size() - first));
    if (rules_->hash_many != nullptr) {
      rules_->hash_many(some.data(), some.size(), places.data());
    } else if (hash_ != nullptr) {
      std::transform(some.begin(), some.end(), places.begin(), hash_);
    } else {
      std::transform(some.begin(), some.end(), places.begin(),
                     [this](std::string_view key) { return foreign_->place(key); });
    }
    if (mixes_) {
      for (std::uint32_t& place : places) {
        place = mix32(place);
      }
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      owners[first + i] = some[i].empty() ? nullptr : owner_at(places[i]);
    }
  }
}

std::size_t snapshot::bytes() const noexcept {
  std::size_t sum = sizeof *this + points_.bytes() + scores_.bytes() +
                    (foreign_ != nullptr ? foreign_->bytes() : 0);
  if (has_slots_) {
    sum += segments_.table.bytes();
  }
  sum += owners_.capacity() * sizeof(owners_[0]) + sorted_.capacity() * sizeof(sorted_[0]) +
         slots_.capacity() * sizeof(slots_[0]) + nodes_.capacity() * sizeof(nodes_[0]);
  for (const record_pointer& record : nodes_) {
    // A string of up to 15 bytes lives in its object.
    const auto heap = [](const std::string& text) {
      return text.capacity() > 15 ? text.capacity() + 1 : 0;
    };
    sum += sizeof *record + 2 * sizeof(void*) + heap(record->node.name) + heap(record->node.zone);
  }
  return sum;
}

}  // namespace lifering::ring_detail
