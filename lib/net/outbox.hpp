// Datagrams that wait to leave together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <span>
#include <vector>

namespace lifering::net {

struct outgoing_datagram {
  endpoint to;
  std::size_t offset = 0;  ///< Of its bytes among those of all.
  std::size_t size = 0;
};

struct outbox {
  std::vector<std::uint8_t> bytes;
  std::vector<outgoing_datagram> list;

  std::span<const std::uint8_t> bytes_of(const outgoing_datagram& each) const {
    return std::span(bytes).subspan(each.offset, each.size);
  }

  /// Keeps the storage, but that of a large batch goes back.
  void clear() {
    constexpr std::size_t kept_max = std::size_t{64} << 10;
    if (bytes.capacity() > kept_max) *this = {};
    bytes.clear();
    list.clear();
  }
};

}  // namespace lifering::net
