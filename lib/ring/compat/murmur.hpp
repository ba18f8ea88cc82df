// The hashes of the MurmurHash family (Appleby, in the public domain) that other systems place keys
// with. Read little-endian on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace lifering::compat {

/// MurmurHash2, 32 bits: Kafka, libmemcached, twemproxy.
std::uint32_t murmur2(std::string_view bytes, std::uint32_t seed) noexcept;

/// MurmurHash3_x86_32: libmemcached.
std::uint32_t murmur3(std::string_view bytes, std::uint32_t seed) noexcept;

/// MurmurHash64A: Envoy, as libstdc++'s std::hash.
std::uint64_t murmur2_64(std::string_view bytes, std::uint64_t seed) noexcept;

}  // namespace lifering::compat
