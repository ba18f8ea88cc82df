// What one stranger can have many addresses of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lifering/endpoint.hpp>

namespace lifering::net {

/// An IPv4 address stands for itself, an IPv6 one for its network, whose last 64 bits are anybody's
/// to choose (RFC 4291).
inline endpoint source_of(const endpoint& address) {
  endpoint source = address;
  source.port = 0;
  if (!source.is_v4()) std::fill(source.bytes.begin() + 8, source.bytes.end(), std::uint8_t{0});
  return source;
}

}  // namespace lifering::net
