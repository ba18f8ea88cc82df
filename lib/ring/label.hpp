// Labels: the text that is hashed for each point of a node.
#pragma once

#include <cstdint>
#include <lifering/placement.hpp>
#include <lifering/weight.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lifering::ring_detail {

/// A label format taken apart: what stands before, between and after the two parts that vary.
class label_format {
 public:
  /// Nothing unless {node} and {i} occur exactly once each.
  static std::optional<label_format> parse(std::string_view text);

  /// Writes the label of point `index` over `text`.
  void write(std::string_view node, std::uint32_t index, std::string& text) const;

 private:
  std::string before_;
  std::string between_;
  std::string after_;
  bool node_first_ = true;
};

inline constexpr std::uint32_t vnodes_default = 150;

/// Points of a node of weight 1.
inline std::uint32_t vnodes_of(const placement_options& options) noexcept {
  return options.vnodes == 0 ? vnodes_default : options.vnodes;
}

/// Points of a node by its weight: in proportion, rounded, at least one unless the weight is 0.
constexpr std::uint32_t points_of(std::uint32_t vnodes, weight value) noexcept {
  if (value.owns_nothing()) {
    return 0;
  }
  const std::uint64_t exact = std::uint64_t{vnodes} * value.thousandths();
  const std::uint64_t rounded = (exact + 500) / 1000;
  return rounded == 0 ? 1 : static_cast<std::uint32_t>(rounded);
}

}  // namespace lifering::ring_detail
