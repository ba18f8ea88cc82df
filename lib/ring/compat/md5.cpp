// The one file that sees libmd.
#include "ring/compat/md5.hpp"

#include <sys/types.h>

#include <md5.h>

namespace lifering::compat {

std::array<std::uint32_t, 4> md5_words(std::string_view bytes) noexcept {
  MD5_CTX context;
  MD5Init(&context);
  MD5Update(&context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  std::array<std::uint8_t, MD5_DIGEST_LENGTH> digest{};
  MD5Final(digest.data(), &context);
  std::array<std::uint32_t, 4> words{};
  for (unsigned i = 0; i < digest.size(); ++i) {
    words[i / 4] |= std::uint32_t{digest[i]} << (8 * (i % 4));
  }
  return words;
}

}  // namespace lifering::compat
