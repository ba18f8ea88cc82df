// The key hashes of libmemcached (libhashkit) and of twemproxy, which took them over.
#pragma once

#include <cstdint>
#include <lifering/compat.hpp>
#include <string_view>

namespace lifering::compat {

/// `hash` isn't automatic (checked).
std::uint32_t memcached_hash(ketama::hashes hash, std::string_view bytes) noexcept;

}  // namespace lifering::compat
