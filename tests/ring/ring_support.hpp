// What the tests of the ring share: a generator that is the same on every machine, sets of nodes,
// and what it means for two rings to be equal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lifering/ring.hpp>
#include <string>
#include <vector>

namespace ring_test {

using lifering::hash_ring;
using lifering::placement_kind;
using lifering::placement_options;
using lifering::ring_change;
using lifering::ring_node;
using lifering::ring_table;

/// SplitMix64 (Steele, Lea, Flood 2014).
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e37'79b9'7f4a'7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9U;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebU;
    return z ^ (z >> 31);
  }

  /// A number below `end`.
  std::uint64_t below(std::uint64_t end) { return next() % end; }

  std::string bytes(std::size_t count) {
    std::string text;
    while (text.size() < count) {
      text += static_cast<char>(next() >> 56);
    }
    return text;
  }

  template <class List>
  void shuffle(List& list) {
    for (std::size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[below(i)]);
    }
  }

 private:
  std::uint64_t state_;
};

inline lifering::weight weight_of(std::uint64_t thousandths) {
  return lifering::weight::from_thousandths(thousandths).value();
}

/// "10.0.x.y:6379", which are as bad for plain CRC-32 as real names get.
inline std::vector<ring_node> address_nodes(std::size_t count, std::size_t first = 0) {
  std::vector<ring_node> nodes;
  for (std::size_t i = first; i < first + count; ++i) {
    nodes.push_back({"10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ":6379"});
  }
  return nodes;
}

/// Distinct nodes with names of any bytes, some of them prefixes of others, of different weights
/// (some of them 0) and in a few zones.
inline std::vector<ring_node> strange_nodes(random_source& random, std::size_t count) {
  std::vector<ring_node> nodes;
  while (nodes.size() < count) {
    std::string name = random.bytes(1 + random.below(12));
    if (!nodes.empty() && random.below(3) == 0) {
      name = nodes[random.below(nodes.size())].name + name;
      name.resize(std::min<std::size_t>(name.size(), 255));
    }
    const auto is_name = [&name](const ring_node& node) { return node.name == name; };
    if (std::any_of(nodes.begin(), nodes.end(), is_name)) {
      continue;
    }
    constexpr std::uint64_t weights[] = {1000, 1000, 1000, 0, 500, 2000, 10, 12'345};
    const std::uint64_t zone = random.below(4);
    nodes.push_back({std::move(name), weight_of(weights[random.below(8)]),
                     zone == 0 ? "" : "zone-" + std::to_string(zone)});
  }
  return nodes;
}

inline std::vector<std::string> some_keys(std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) {
    keys.push_back("user:" + std::to_string(i * 7919));
  }
  return keys;
}

/// The placements that tests of every placement go through, kept small enough to be quick.
inline std::vector<placement_options> all_placements() {
  placement_options few = placement_options::classic();
  few.vnodes = 7;
  few.label = "{i}{node}";
  placement_options slots = placement_options::slots();
  slots.segments = 11;
  placement_options capped = slots;
  capped.cap = 50;
  return {placement_options::classic(), few, placement_options::mixed(), slots, capped};
}

inline hash_ring ring_of(const placement_options& placement, std::vector<ring_node> nodes) {
  hash_ring ring{placement};
  ring.assign(std::move(nodes));
  return ring;
}

/// Whether two rings are one: the same fingerprint, and every place of the circle with one owner.
inline bool same_ring(const ring_table& a, const ring_table& b) {
  if (a.fingerprint() != b.fingerprint() || a.points() != b.points() || a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(*a.nodes()[i] == *b.nodes()[i])) {
      return false;
    }
  }
  return lifering::diff(a, b).moved() == 0;
}

inline bool same_ring(const hash_ring& a, const hash_ring& b) {
  return same_ring(a.view(), b.view());
}

inline std::vector<std::string> names_of(const std::vector<const ring_node*>& nodes) {
  std::vector<std::string> names;
  for (const ring_node* node : nodes) {
    names.push_back(node->name);
  }
  return names;
}

}  // namespace ring_test
