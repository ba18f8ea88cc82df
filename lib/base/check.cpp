#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace lifering::base {

void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "lifering: broken invariant: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace lifering::base
