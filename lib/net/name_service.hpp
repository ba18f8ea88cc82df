// Asks for the addresses behind names: the system, or one name server.
#pragma once

#include <cstdint>
#include <lifering/endpoint.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace lifering::net {

/// Where a service is to be had (RFC 2782).
struct service_host {
  std::string host;
  std::uint16_t port = 0;
  friend bool operator==(const service_host&, const service_host&) = default;
};

/// Waits for the answer. Safe from any thread.
class name_service {
 public:
  /// Records taken of a service, the preferred ones first.
  static constexpr std::size_t services_max = 32;

  /// Without a server, the system's configuration. A server has an IPv4 address.
  explicit name_service(const std::optional<endpoint>& server = {}) : server_(server) {}

  /// Appends the addresses of a host name, with port 0.
  std::error_code look_up(const std::string& host, std::vector<endpoint>& out) const;

  /// Appends the hosts that offer a service, the preferred first. Their addresses are looked up
  /// apart, so that none of them waits for another's.
  std::error_code look_up_service(const std::string& name, std::vector<service_host>& out) const;

 private:
  std::optional<endpoint> server_;
};

}  // namespace lifering::net
