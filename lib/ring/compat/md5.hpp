// MD5 (RFC 1321), as the clients of the ketama family take it: four words of a digest. From libmd,
// which is small, has no state and no configuration that could forbid MD5, and is on every Debian
// system as dpkg needs it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lifering::compat {

/// The digest's sixteen bytes as little-endian words.
std::array<std::uint32_t, 4> md5_words(std::string_view bytes) noexcept;

}  // namespace lifering::compat
