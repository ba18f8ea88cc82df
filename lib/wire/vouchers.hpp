// Vouchers: who tells that a life is here tells too which of its packets was the last that it
// heard, so that whoever trusts the teller needs no proof of that life's own (README.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "swim/message.hpp"
#include "wire/replay_guard.hpp"

namespace lifering::wire {

namespace pb {
class Packet;
}

/// What vouchers add to a datagram at most: enough for a storm's news in a young cluster, and for a
/// third of it in one that is years old. Who is told of without one proves itself.
inline constexpr std::size_t vouchers_size_max = 64;

/// Vouches for the lives that the packet tells of, as far as they are proven to us and it takes no
/// more than `size_max` bytes.
void write_vouchers(const swim::packet& from, const replay_guard& ours, std::size_t size_max,
                    pb::Packet& to);

/// Takes the lives for proven that such a packet vouched for: `numbers` came with it.
void believe_vouchers(const swim::packet& from, std::span<const std::uint64_t> numbers,
                      replay_guard& ours);

}  // namespace lifering::wire
