// Endpoints to Asio's and back. Everything above the sockets sees the canonical form alone: an IPv4
// address that came in through a dual-stack socket is the IPv4 address.
#pragma once

#include <algorithm>
#include <array>
#include <asio/ip/address.hpp>
#include <asio/ip/basic_endpoint.hpp>
#include <lifering/endpoint.hpp>

namespace lifering::net {

/// 255.255.255.255, which all hosts of a network hear and none has.
inline bool is_broadcast(const endpoint& address) {
  return address.is_v4() && std::all_of(address.bytes.begin() + 12, address.bytes.end(),
                                        [](std::uint8_t byte) { return byte == 0xff; });
}

/// The address as a socket of that family takes it. A dual-stack socket is an IPv6 one, for which
/// IPv4 is written v4-mapped.
inline asio::ip::address to_asio_address(const endpoint& from, bool v6_socket) {
  if (from.is_v4() && !v6_socket) {
    asio::ip::address_v4::bytes_type bytes{};
    std::copy_n(from.bytes.begin() + 12, bytes.size(), bytes.begin());
    return asio::ip::address_v4(bytes);
  }
  asio::ip::address_v6::bytes_type bytes{};
  std::copy(from.bytes.begin(), from.bytes.end(), bytes.begin());
  return asio::ip::address_v6(bytes, from.scope);
}

template <class Protocol>
asio::ip::basic_endpoint<Protocol> to_asio(const endpoint& from, bool v6_socket) {
  return {to_asio_address(from, v6_socket), from.port};
}

template <class Protocol>
endpoint from_asio(const asio::ip::basic_endpoint<Protocol>& from) {
  const asio::ip::address address = from.address();
  if (address.is_v4()) return endpoint::v4(address.to_v4().to_bytes(), from.port());
  endpoint result;
  const auto bytes = address.to_v6().to_bytes();
  std::copy(bytes.begin(), bytes.end(), result.bytes.begin());
  result.port = from.port();
  // Only there does a scope tell two addresses apart.
  if (address.to_v6().is_link_local()) {
    result.scope = static_cast<std::uint32_t>(address.to_v6().scope_id());
  }
  return result;
}

}  // namespace lifering::net
