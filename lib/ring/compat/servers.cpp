// Ordering, weighing and naming the nodes of another system, and what it couldn't take of them.
#include "ring/compat/servers.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "ring/compat/option_text.hpp"

namespace lifering::compat {

namespace {

std::uint32_t whole_weight(weight value, std::uint32_t unit) {
  const std::uint64_t exact = std::uint64_t{value.thousandths()} * unit;
  const std::uint64_t rounded = (exact + 500) / 1000;
  return static_cast<std::uint32_t>(exact == 0 ? 0 : std::max<std::uint64_t>(rounded, 1));
}

}  // namespace

std::vector<server> servers_of(ring_detail::node_span nodes, const std::vector<std::string>& order,
                               const std::vector<server_id>& ids, std::uint32_t unit) {
  std::vector<server> servers;
  servers.reserve(nodes.size());
  const auto append = [&](std::size_t index) {
    const ring_node& node = *nodes[index];
    const auto id = std::lower_bound(
        ids.begin(), ids.end(), node.name,
        [](const server_id& each, const std::string& name) { return each.name < name; });
    const bool has_id = id != ids.end() && id->name == node.name;
    servers.push_back({&node, static_cast<std::uint32_t>(index + 1),
                       whole_weight(node.weight, unit), has_id ? id->id : node.name, has_id});
  };
  std::vector<bool> listed(nodes.size());
  for (const std::string& name : order) {
    const auto at = std::lower_bound(
        nodes.begin(), nodes.end(), name,
        [](const ring_node* node, const std::string& wanted) { return node->name < wanted; });
    const auto index = static_cast<std::size_t>(at - nodes.begin());
    if (at != nodes.end() && (*at)->name == name && !listed[index]) {
      listed[index] = true;
      append(index);
    }
  }
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    if (!listed[index]) {
      append(index);
    }
  }
  return servers;
}

std::vector<server> weighty(std::vector<server> servers) {
  std::erase_if(servers, [](const server& each) { return each.weight == 0; });
  return servers;
}

std::uint64_t weight_of(const std::vector<server>& servers) {
  std::uint64_t sum = 0;
  for (const server& each : servers) {
    sum += each.weight;
  }
  return sum;
}

std::optional<problem> refuse_weights(std::string_view system, ring_detail::node_span nodes,
                                      std::uint32_t unit, std::uint32_t max) {
  for (const ring_node* node : nodes) {
    const std::uint64_t exact = std::uint64_t{node->weight.thousandths()} * unit;
    if (exact % 1000 != 0 || exact / 1000 > max) {
      return problem{errc::invalid_weight,
                     std::string{system} + ": the weight of " + base::quoted(node->name) + " is " +
                         to_string(node->weight) + " times unit " + std::to_string(unit) +
                         "; it must be a whole number up to " + std::to_string(max) +
                         ", so choose another unit or weight"};
    }
  }
  return std::nullopt;
}

std::optional<problem> refuse_equal(
    std::string_view system, const std::vector<std::pair<std::string, const ring_node*>>& texts) {
  auto sorted = texts;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->name < b.second->name;
  });
  const auto twice =
      std::adjacent_find(sorted.begin(), sorted.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice == sorted.end()) {
    return std::nullopt;
  }
  return bad_option(std::string{system} + ": " + base::quoted(twice->second->name) + " and " +
                    base::quoted(std::next(twice)->second->name) + " are both " +
                    base::quoted(twice->first) +
                    " there and would share all points; name or number them apart");
}

void warn_of_idle(std::string_view system, const std::vector<server>& idle, std::string_view why,
                  std::vector<std::string>& found) {
  if (!idle.empty()) {
    found.push_back(std::string{system} + ": " + std::string{why} + " for " +
                    base::quoted(idle.front().node->name) +
                    (idle.size() == 1
                         ? ", so it gets no key"
                         : " and " + std::to_string(idle.size() - 1) +
                               (idle.size() == 2 ? " other" : " others") + ", so they get no key"));
  }
}

std::optional<problem> refuse_points(std::string_view system, std::uint64_t points) {
  if (points <= ring_detail::points_max) {
    return std::nullopt;
  }
  return problem{errc::too_many_points,
                 std::string{system} + ": these weights make " + std::to_string(points) +
                     " points, which would fill memory; a ring takes up to " +
                     std::to_string(ring_detail::points_max) + ", so use smaller weights"};
}

}  // namespace lifering::compat
