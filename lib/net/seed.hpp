// Seed texts: `host:port`, `host`, `1.2.3.4:port`, `[v6]:port`, an address alone; and services,
// whose hosts and ports SRV records tell: `srv:name`, or a name that looks like one,
// `_lifering._udp.example.com`.
#pragma once

#include <cstdint>
#include <lifering/endpoint.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace lifering::net {

/// The port of a seed that names none.
inline constexpr std::uint16_t default_port = 7946;

/// What a seed's text begins with when it is a service, whatever it looks like.
inline constexpr std::string_view service_prefix = "srv:";

struct seed {
  std::string host;  ///< A name to be resolved; empty when `address` is set.
  std::uint16_t port = default_port;
  bool is_service = false;          ///< `host` is the name of SRV records; `port` means nothing.
  std::optional<endpoint> address;  ///< When the text is an address.

  /// Nothing when the text is no seed.
  static std::optional<seed> parse(std::string_view text);
};

}  // namespace lifering::net
