// A UDP and TCP address: what a member is reached at.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <lifering/config.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace lifering {

/// An IPv4 or IPv6 address with a port, as a plain value.
///
/// There is one form for one address: IPv4 is kept as the v4-mapped IPv6 address, so that
/// `10.0.0.1` and `::ffff:10.0.0.1` are equal, print alike and can't be two identities.
/// Copyable; distinct objects may be used from any threads.
struct LIFERING_API endpoint {
  std::array<std::uint8_t, 16> bytes{};  ///< Network order; IPv4 as ::ffff:a.b.c.d.
  std::uint16_t port = 0;                ///< Host order; 0 is "no port yet".
  std::uint32_t scope = 0;               ///< Interface index of a link-local IPv6 address, else 0.

  /// Reads `1.2.3.4:7946`, `[2001:db8::1]:7946` or `[fe80::1%2]:7946`. An address without a port
  /// gets `default_port`. Host names are no endpoints: nullopt.
  static std::optional<endpoint> parse(std::string_view text, std::uint16_t default_port = 0);

  /// The IPv4 address a.b.c.d given as four bytes in network order.
  static endpoint v4(std::array<std::uint8_t, 4> address, std::uint16_t port);

  bool is_v4() const noexcept;
  bool is_unspecified() const noexcept;  ///< 0.0.0.0 or ::
  bool is_loopback() const noexcept;     ///< 127.0.0.0/8 or ::1
  bool is_multicast() const noexcept;    ///< 224.0.0.0/4 or ff00::/8

  /// `1.2.3.4:7946` or `[::1]:7946`; what parse() reads back.
  std::string to_string() const;

  friend auto operator<=>(const endpoint&, const endpoint&) = default;
};

}  // namespace lifering
