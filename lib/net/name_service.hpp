// Asks for the addresses behind names: the system, or one name server.
#pragma once

#include <lifering/endpoint.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace lifering::net {

/// What a lookup's text begins with when it is about a service (RFC 2782).
inline constexpr std::string_view service_prefix = "srv:";

/// Waits for the answer. Safe from any thread.
class name_service {
 public:
  /// Records taken of a service, the preferred ones first.
  static constexpr std::size_t services_max = 32;

  /// Without a server, the system's configuration. A server has an IPv4 address.
  explicit name_service(const std::optional<endpoint>& server = {}) : server_(server) {}

  /// Appends the addresses of a host name, with port 0; or of `srv:NAME`, those of the hosts that
  /// offer the service, with the ports that it has there.
  std::error_code look_up(const std::string& asked, std::vector<endpoint>& out) const;

 private:
  std::error_code hosts_addresses(const std::string& host, std::vector<endpoint>& out) const;
  std::error_code services_addresses(const std::string& name, std::vector<endpoint>& out) const;

  std::optional<endpoint> server_;
};

}  // namespace lifering::net
