// Sets of simulated members, as scenarios write them: `7`, `3-5`, `1-10,14`, `*`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lifering::sim {

/// The number of a simulated member, from 1.
using node_id = std::uint32_t;

inline constexpr node_id node_limit = 65'535;  // Two bytes of a simulated address.

class node_set {
 public:
  node_set() = default;
  explicit node_set(node_id only) : ranges_{{only, only}} {}
  node_set(node_id first, node_id last) : ranges_{{first, last}} {}

  static node_set all() { return {1, node_limit}; }

  /// The inverse of to_string(). Nothing for other texts, empty ranges and numbers out of bounds.
  static std::optional<node_set> parse(std::string_view text);

  bool contains(node_id node) const noexcept {
    for (const auto& [first, last] : ranges_)
      if (node >= first && node <= last) return true;
    return false;
  }

  /// The members up to `count`, ascending, each once.
  std::vector<node_id> members(node_id count) const;

  /// The greatest number named; 0 for none and for `*`, which names no number.
  node_id greatest() const noexcept;
  bool is_all() const noexcept;

  void add(node_id node) { ranges_.push_back({node, node}); }

  std::string to_string() const;

  friend bool operator==(const node_set&, const node_set&) = default;

 private:
  struct range {
    node_id first;
    node_id last;
    friend bool operator==(const range&, const range&) = default;
  };
  std::vector<range> ranges_;
};

}  // namespace lifering::sim
