#include "sim/node_set.hpp"

#include <algorithm>
#include <charconv>

namespace lifering::sim {
namespace {

std::optional<node_id> parse_node(std::string_view text) {
  node_id value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (value == 0 || value > node_limit) return std::nullopt;
  return value;
}

}  // namespace

std::optional<node_set> node_set::parse(std::string_view text) {
  if (text == "*") return all();
  node_set result;
  while (true) {
    const auto comma = text.find(',');
    const auto part = text.substr(0, comma);
    const auto dash = part.find('-');
    const auto first = parse_node(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_node(part.substr(dash + 1));
    if (!first || !last || *first > *last) return std::nullopt;
    result.ranges_.push_back({*first, *last});
    if (comma == std::string_view::npos) return result;
    text.remove_prefix(comma + 1);
  }
}

std::vector<node_id> node_set::members(node_id count) const {
  std::vector<node_id> result;
  for (const auto& [first, last] : ranges_)
    for (node_id node = first; node <= std::min(last, count); ++node)
      result.push_back(node);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

node_id node_set::greatest() const noexcept {
  node_id result = 0;
  if (!is_all())
    for (const auto& item : ranges_)
      result = std::max(result, item.last);
  return result;
}

bool node_set::is_all() const noexcept {
  return ranges_.size() == 1 && ranges_[0].first == 1 && ranges_[0].last == node_limit;
}

std::string node_set::to_string() const {
  if (is_all()) return "*";
  std::string text;
  for (const auto& [first, last] : ranges_) {
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last != first) text += '-' + std::to_string(last);
  }
  return text;
}

}  // namespace lifering::sim
