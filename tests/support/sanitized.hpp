// Whether this is a tree with sanitizers, in which programs take several times as long.
#pragma once

namespace lifering_test {

#if defined(LIFERING_SANITIZED)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace lifering_test
