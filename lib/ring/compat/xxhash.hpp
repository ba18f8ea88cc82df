// xxHash (Collet), by which Envoy, gRPC and HAProxy hash texts. The code is that of libxxhash's
// header, compiled into xxhash.cpp: nothing is linked.
#pragma once

#include <cstdint>
#include <string_view>

namespace lifering::compat {

std::uint64_t xxhash64(std::string_view bytes, std::uint64_t seed) noexcept;
std::uint32_t xxhash32(std::string_view bytes, std::uint32_t seed) noexcept;

}  // namespace lifering::compat
