// Nodes as another system lists them: an order, whole weights, and ids.
#pragma once

#include <cstdint>
#include <lifering/compat.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ring/foreign.hpp"

namespace lifering::compat {

struct server {
  const ring_node* node;
  std::uint32_t slot;    ///< The node's index and one: the owner of its points.
  std::uint32_t weight;  ///< Whole, as the other system counts.
  std::string_view id;   ///< Its id or, if it has none, its name.
  bool has_id;
};

/// All nodes in the order given, the rest by name; those of weight 0 too, which have their place in
/// a list. `ids` are sorted by name.
std::vector<server> servers_of(ring_detail::node_span nodes, const std::vector<std::string>& order,
                               const std::vector<server_id>& ids, std::uint32_t unit);

/// Without those of weight 0.
std::vector<server> weighty(std::vector<server> servers);

/// The sum of weights.
std::uint64_t weight_of(const std::vector<server>& servers);

/// A weight that isn't whole, or above `max`.
std::optional<problem> refuse_weights(std::string_view system, ring_detail::node_span nodes,
                                      std::uint32_t unit, std::uint32_t max);

/// Two servers that have one text to be hashed: all points of the one are points of the other.
std::optional<problem> refuse_equal(
    std::string_view system, const std::vector<std::pair<std::string, const ring_node*>>& texts);

/// Warns of servers that get no key, if there are any.
void warn_of_idle(std::string_view system, const std::vector<server>& idle, std::string_view why,
                  std::vector<std::string>& found);

/// More points than a ring may have, with their number.
std::optional<problem> refuse_points(std::string_view system, std::uint64_t points);

}  // namespace lifering::compat
