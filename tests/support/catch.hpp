// Catch2, whichever of its two layouts is installed: version 3 in many headers, version 2 in one.
// Tests use version 3's names.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>

namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) {
  return Contains(text);
}
}  // namespace Catch::Matchers
#endif
