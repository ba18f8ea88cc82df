// Node records and sorted sets of them.
#include "ring/node_set.hpp"

#include <algorithm>

#include "ring/mix64.hpp"

namespace lifering::ring_detail {

node_record::node_record(ring_node given)
    : node(std::move(given)),
      order(hash64{1}.add(node.name).value()),
      digest(hash64{2}.add(node.name).add(node.weight.thousandths()).add(node.zone).value()) {}

std::error_code check_node(const ring_node& node) noexcept {
  if (node.name.empty()) {
    return errc::empty_name;
  }
  if (node.name.size() > name_bytes_max) {
    return errc::name_too_long;
  }
  if (node.zone.size() > zone_bytes_max) {
    return errc::zone_too_long;
  }
  return {};
}

position find_node(const node_set& nodes, std::string_view name) noexcept {
  // char_traits<char> compares as unsigned char, so this is the order of bytes on every machine.
  const auto at = std::lower_bound(nodes.begin(), nodes.end(), name,
                                   [](const record_pointer& record, std::string_view wanted) {
                                     return record->node.name < wanted;
                                   });
  return {static_cast<std::size_t>(at - nodes.begin()),
          at != nodes.end() && (*at)->node.name == name};
}

node_set make_set(std::vector<ring_node> nodes, const node_set& current, std::error_code& error) {
  const auto by_name = [](const ring_node& a, const ring_node& b) { return a.name < b.name; };
  if (!std::is_sorted(nodes.begin(), nodes.end(), by_name)) {
    std::sort(nodes.begin(), nodes.end(), by_name);
  }
  node_set result;
  result.reserve(nodes.size());
  auto old = current.begin();
  for (ring_node& node : nodes) {
    if (error = check_node(node); error) {
      return {};
    }
    if (!result.empty() && result.back()->node.name == node.name) {
      error = errc::duplicate_node;
      return {};
    }
    while (old != current.end() && (*old)->node.name < node.name) {
      ++old;
    }
    if (old != current.end() && (*old)->node == node) {
      result.push_back(*old);
    } else {
      result.push_back(std::make_shared<const node_record>(std::move(node)));
    }
  }
  return result;
}

}  // namespace lifering::ring_detail
