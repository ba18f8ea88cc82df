// The one file that sees libxxhash.
#include "ring/compat/xxhash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lifering::compat {

std::uint64_t xxhash64(std::string_view bytes, std::uint64_t seed) noexcept {
  return XXH64(bytes.data(), bytes.size(), seed);
}

std::uint32_t xxhash32(std::string_view bytes, std::uint32_t seed) noexcept {
  return XXH32(bytes.data(), bytes.size(), seed);
}

}  // namespace lifering::compat
