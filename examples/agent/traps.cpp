#include "traps.hpp"

#include <algorithm>
#include <iterator>

std::vector<std::string> traps::look(const lifering::ring_table& ring) {
  if (ring.empty()) return {};  // We have left, or nobody serves: a trap for no key.
  std::vector<lifering::ring_node> nodes;
  for (const auto* node : ring.nodes())
    nodes.push_back(*node);
  auto found = placement_.warnings(nodes);
  if (const auto unfit = placement_.validate(nodes)) found.push_back(unfit->text);
  std::sort(found.begin(), found.end());
  std::vector<std::string> news;
  std::set_difference(found.begin(), found.end(), known_.begin(), known_.end(),
                      std::back_inserter(news));
  known_ = std::move(found);
  return news;
}
