// Names as real clusters have them, for reports and benchmarks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ring_tool {

enum class name_family : std::uint8_t {
  ip,      ///< 10.0.3.17:6379
  pod,     ///< cache-7d9fkx2bq-x8vzn, random
  padded,  ///< node-0042
  uuid,    ///< random
};

std::optional<name_family> parse_family(std::string_view word);

/// `count` distinct names; another `set` gives others.
std::vector<std::string> make_names(name_family family, std::uint32_t count, std::uint32_t set);

}  // namespace ring_tool
