// Assertions for programmer errors. They stay on in every build: a member that runs on with a
// broken invariant harms its peers.
#pragma once

namespace lifering::base {

/// Prints where and what on stderr and aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace lifering::base

#define LIFERING_CHECK(condition)                      \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::lifering::base::check_failed(#condition, __FILE__, __LINE__))
