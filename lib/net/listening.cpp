#include "net/listening.hpp"

#include <asio/error.hpp>
#include <asio/ip/v6_only.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "net/address.hpp"
#include "net/close_on_exec.hpp"
#include "net/system_error.hpp"

namespace lifering::net {
namespace {

/// Ports that the system chose for UDP and that TCP may find taken before we give up.
constexpr int tries_max = 32;

constexpr int backlog = 128;

template <class Socket, class Protocol>
void open_bound(Socket& socket, const asio::ip::basic_endpoint<Protocol>& at,
                std::error_code& error) {
  socket.open(at.protocol(), error);
  if (error) return;
  close_on_exec(socket);
  if (at.address().is_v6()) {
    socket.set_option(asio::ip::v6_only(!at.address().is_unspecified()), error);
    if (error) return;
  }
  if constexpr (std::is_same_v<Protocol, asio::ip::tcp>) {
    // A restart must not wait for the old connections' TIME_WAIT. On UDP the same option would let
    // two members share the port.
    socket.set_option(typename Socket::reuse_address(true), error);
    if (error) return;
  }
  socket.bind(at, error);
}

bool is_link_local(const endpoint& at) {
  return at.bytes[0] == 0xfe && (at.bytes[1] & 0xc0) == 0x80;
}

problem explain(const endpoint& at, std::string_view protocol, const std::error_code& why) {
  const auto error = to_standard(why);
  const auto address = at.to_string();
  if (error == std::errc::address_in_use) {
    return {errc::address_in_use, "the " + std::string(protocol) + " port of " + address +
                                      " is in use by another process; stop it or bind to another "
                                      "port"};
  }
  if (error == std::errc::address_not_available) {
    return {errc::invalid_address, "no interface of this host has the address of " + address +
                                       "; bind to one that it has, or to 0.0.0.0 or [::] for all"};
  }
  if (error == std::errc::permission_denied) {
    return {errc::invalid_address, "this process may not bind to " + address +
                                       "; take a port from 1024 upwards, or give it the privilege"};
  }
  if (error == std::errc::address_family_not_supported) {
    return {errc::invalid_address, "this host has no " + std::string(at.is_v4() ? "IPv4" : "IPv6") +
                                       ", which " + address + " needs; bind to the other kind"};
  }
  if (is_link_local(at) &&
      (error == std::errc::invalid_argument || error == std::errc::no_such_device)) {
    return {errc::invalid_address, address +
                                       " is a link-local address, which needs the number of an "
                                       "interface of this host, as in [fe80::1%2]:7946"};
  }
  return {errc::invalid_address,
          "can't listen on " + address + " (" + std::string(protocol) + "): " + error.message()};
}

}  // namespace

std::optional<problem> open_listening(const io::executor& executor, const endpoint& bind,
                                      std::optional<listening_sockets>& out) {
  if (bind.is_multicast()) {
    return problem{errc::invalid_address, bind.to_string() +
                                              " is a multicast address; bind to an address of this "
                                              "host, or to 0.0.0.0 or [::] for all"};
  }
  for (int tries = 1;; ++tries) {
    std::error_code error;
    listening_sockets opened{io::udp_socket(executor), io::tcp_acceptor(executor), bind};
    open_bound(opened.udp, to_asio<asio::ip::udp>(bind, false), error);
    if (error) return explain(bind, "UDP", error);
    opened.local.port = opened.udp.local_endpoint().port();
    open_bound(opened.tcp, to_asio<asio::ip::tcp>(opened.local, false), error);
    // With SO_REUSEADDR on both, two listeners may pass bind() and only the first listen().
    if (!error) opened.tcp.listen(backlog, error);
    if (!error) {
      out.emplace(std::move(opened));
      return std::nullopt;
    }
    const bool may_try = bind.port == 0 && error == asio::error::address_in_use;
    if (!may_try || tries == tries_max) return explain(opened.local, "TCP", error);
  }
}

}  // namespace lifering::net
