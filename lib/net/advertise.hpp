// Chooses the address that a member tells others.
#pragma once

#include <cstdint>
#include <lifering/endpoint.hpp>
#include <lifering/error.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "net/io.hpp"
#include "net/name_service.hpp"

namespace lifering::net {

struct advertised {
  endpoint address;
  std::string_view how;  ///< For the log: where it comes from. A literal.
};

/// What a person may write: an address or a host name, with a port or without, which is 0 then.
struct advertise_text {
  std::optional<endpoint> address;
  std::string host;  ///< Empty when `address` is set.
  std::uint16_t port = 0;

  static std::optional<advertise_text> parse(std::string_view text);
};

/// Finds the address to advertise, waiting for the name service if it is a host's: the first one of
/// the family that a socket bound to `bind` speaks.
std::optional<problem> find_advertised(const advertise_text& given, const endpoint& bind,
                                       const name_service& names, endpoint& out);

/// What makes `address` impossible to reach a member at, if anything does.
std::optional<problem> check_advertised(const endpoint& address);

/// `given`: what the user asked for; port 0 means the bound one. Without it the bound address, and
/// for a wildcard the one that packets to `hint` would come from, else those to the outside, else
/// that of the first interface, else loopback. Sends nothing.
/// The executor is only what the sockets of the lookup are made on.
std::optional<problem> choose_advertised(const io::executor& executor, const endpoint& bound,
                                         const std::optional<endpoint>& given,
                                         const std::optional<endpoint>& hint, advertised& out);

}  // namespace lifering::net
