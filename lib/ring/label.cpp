// Reading and filling in label formats.
#include "ring/label.hpp"

#include <charconv>

namespace lifering::ring_detail {

std::optional<label_format> label_format::parse(std::string_view text) {
  constexpr std::string_view node_mark = "{node}";
  constexpr std::string_view index_mark = "{i}";
  const std::size_t node = text.find(node_mark);
  const std::size_t index = text.find(index_mark);
  if (node == text.npos || index == text.npos || text.find(node_mark, node + 1) != text.npos ||
      text.find(index_mark, index + 1) != text.npos) {
    return std::nullopt;
  }
  label_format result;
  result.node_first_ = node < index;
  const std::size_t first = std::min(node, index);
  const std::size_t second = std::max(node, index);
  const std::string_view first_mark = result.node_first_ ? node_mark : index_mark;
  const std::string_view second_mark = result.node_first_ ? index_mark : node_mark;
  result.before_ = text.substr(0, first);
  const std::size_t between = first + first_mark.size();
  result.between_ = text.substr(between, second - between);
  result.after_ = text.substr(second + second_mark.size());
  return result;
}

void label_format::write(std::string_view node, std::uint32_t index, std::string& text) const {
  char digits[10];
  const auto end = std::to_chars(digits, digits + sizeof digits, index).ptr;
  const std::string_view number{digits, static_cast<std::size_t>(end - digits)};
  text.assign(before_);
  text.append(node_first_ ? node : number);
  text.append(between_);
  text.append(node_first_ ? number : node);
  text.append(after_);
}

}  // namespace lifering::ring_detail
