#include "net/advertise.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "net/address.hpp"
#include "net/close_on_exec.hpp"
#include "net/seed.hpp"

namespace lifering::net {
namespace {

bool is_usable(const endpoint& address) {
  return !address.is_unspecified() && !address.is_loopback() && !address.is_multicast();
}

/// The local address of the route to `target`: connecting a UDP socket looks it up and sends
/// nothing.
std::optional<endpoint> route_to(const io::executor& executor, const endpoint& target) {
  io::udp_socket probe(executor);
  std::error_code error;
  auto to = to_asio<asio::ip::udp>(target, false);
  if (to.port() == 0) to.port(9);
  probe.open(to.protocol(), error);
  if (error) return std::nullopt;
  close_on_exec(probe);
  probe.connect(to, error);
  if (error) return std::nullopt;
  const auto local = probe.local_endpoint(error);
  if (error) return std::nullopt;
  auto found = from_asio(local);
  found.scope = 0;
  return found;
}

/// The first address of an interface that is up, but for loopback and link-local ones.
std::optional<endpoint> first_interface(bool v4) {
  ifaddrs* head = nullptr;
  if (::getifaddrs(&head) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(head, ::freeifaddrs);
  for (const ifaddrs* each = head; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const auto family = each->ifa_addr->sa_family;
    if (family != (v4 ? AF_INET : AF_INET6)) continue;
    asio::ip::udp::endpoint address;
    const auto size = v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(address.data(), each->ifa_addr, size);
    address.resize(size);
    const auto found = from_asio(address);
    if (is_usable(found) && found.scope == 0) return found;
  }
  return std::nullopt;
}

/// Addresses set aside for documentation: nobody's, so that only a default route leads there.
endpoint outside(bool v4) {
  return *endpoint::parse(v4 ? "203.0.113.1:9" : "[2001:db8::1]:9");
}

advertised choose_for_wildcard(const io::executor& executor, bool v4_only,
                               const std::optional<endpoint>& hint) {
  if (hint && (hint->is_v4() || !v4_only)) {
    // The route to a seed on this host may well be loopback.
    const auto found = route_to(executor, *hint);
    if (found && !found->is_unspecified()) return {*found, "the route to the first seed"};
  }
  // IPv4 first also for [::]: members that are bound to IPv4 alone can reach it too.
  for (const bool v4 : {true, false}) {
    if (!v4 && v4_only) continue;
    const auto found = route_to(executor, outside(v4));
    if (found && is_usable(*found)) return {*found, "the default route"};
  }
  for (const bool v4 : {true, false}) {
    if (!v4 && v4_only) continue;
    if (const auto found = first_interface(v4)) return {*found, "the first interface"};
  }
  return {endpoint::v4({127, 0, 0, 1}, 0), "loopback, since there is no other interface"};
}

}  // namespace

std::optional<advertise_text> advertise_text::parse(std::string_view text) {
  advertise_text result;
  if ((result.address = endpoint::parse(text))) return result;
  const auto parsed = seed::parse(text);
  if (!parsed || parsed->is_service || parsed->address) return std::nullopt;
  result.host = parsed->host;
  if (text.find(':') != std::string_view::npos) result.port = parsed->port;
  return result;
}

std::optional<problem> find_advertised(const advertise_text& given, const endpoint& bind,
                                       const name_service& names, endpoint& out) {
  if (given.address) {
    out = *given.address;
    return std::nullopt;
  }
  std::vector<endpoint> found;
  const auto error = names.look_up(given.host, found);
  const auto usable = std::find_if(found.begin(), found.end(), [&](const endpoint& each) {
    const bool is_spoken = each.is_v4() ? bind.is_v4() || bind.is_unspecified() : !bind.is_v4();
    return is_spoken && !check_advertised(each);
  });
  if (usable == found.end()) {
    const std::string why = error ? error.message() : "it has no address that others could use";
    return problem{errc::invalid_address,
                   "others can't reach us at " + base::quoted(given.host) + ": " + why +
                       "; a name that resolves on this host would be right, or IP:PORT"};
  }
  out = *usable;
  out.port = given.port;
  return std::nullopt;
}

std::optional<problem> check_advertised(const endpoint& address) {
  const auto refuse = [&](std::string_view why) {
    return problem{errc::invalid_address, "can't advertise " + address.to_string() + ": " +
                                              std::string(why) +
                                              "; give the address that peers reach this member at"};
  };
  if (address.is_unspecified()) return refuse("the unspecified address leads nowhere");
  if (address.is_multicast()) return refuse("a multicast address is no single host's");
  if (is_broadcast(address)) {
    return refuse("the broadcast address is no single host's");
  }
  return std::nullopt;
}

std::optional<problem> choose_advertised(const io::executor& executor, const endpoint& bound,
                                         const std::optional<endpoint>& given,
                                         const std::optional<endpoint>& hint, advertised& out) {
  if (given) {
    if (auto found = check_advertised(*given)) return found;
    out = {*given, "given"};
  } else if (!bound.is_unspecified()) {
    out = {bound, "the bound address"};
  } else {
    out = choose_for_wildcard(executor, bound.is_v4(), hint);
  }
  if (!given || given->port == 0) out.address.port = bound.port;
  return std::nullopt;
}

}  // namespace lifering::net
