#include "net/listening.hpp"

#include <asio/io_context.hpp>

#include "net/address.hpp"
#include "support/catch.hpp"

namespace lifering::net {
namespace {

std::optional<problem> try_open(asio::io_context& context, std::string_view bind,
                                std::optional<listening_sockets>& out) {
  return open_listening(asio::make_strand(context), *endpoint::parse(bind), out);
}

TEST_CASE("UDP and TCP share the port, also when the system chooses it") {
  asio::io_context context;
  const auto* bind = GENERATE("127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0");
  std::optional<listening_sockets> sockets;
  REQUIRE_FALSE(try_open(context, bind, sockets));
  CHECK(sockets->local.port != 0);
  CHECK(sockets->udp.local_endpoint().port() == sockets->local.port);
  CHECK(sockets->tcp.local_endpoint().port() == sockets->local.port);
}

TEST_CASE("A port in use by either protocol is refused in one sentence that names it") {
  asio::io_context context;
  std::optional<listening_sockets> first;
  REQUIRE_FALSE(try_open(context, "127.0.0.1:0", first));
  const auto address = first->local.to_string();
  std::string holder;
  SECTION("UDP") {
    first->tcp.close();
    holder = "UDP";
  }
  SECTION("TCP") {
    first->udp.close();
    holder = "TCP";
  }
  std::optional<listening_sockets> second;
  const auto found = try_open(context, address, second);
  REQUIRE(found);
  CHECK(found->code == errc::address_in_use);
  CHECK(found->text == "the " + holder + " port of " + address +
                           " is in use by another process; stop it or bind to another port");
  CHECK_FALSE(second);
}

TEST_CASE("After a refusal nothing stays open") {
  asio::io_context context;
  std::optional<listening_sockets> first;
  REQUIRE_FALSE(try_open(context, "127.0.0.1:0", first));
  const auto address = first->local.to_string();
  first->udp.close();  // Its TCP half still blocks the port.
  std::optional<listening_sockets> second;
  REQUIRE(try_open(context, address, second));
  first->tcp.close();
  CHECK_FALSE(try_open(context, address, second));
}

TEST_CASE("An address that the host doesn't have, or that is no host's, is refused by name") {
  asio::io_context context;
  std::optional<listening_sockets> sockets;
  const auto strange = try_open(context, "203.0.113.77:7946", sockets);
  REQUIRE(strange);
  CHECK(strange->code == errc::invalid_address);
  CHECK_THAT(strange->text, Catch::Matchers::ContainsSubstring("203.0.113.77:7946") &&
                                Catch::Matchers::ContainsSubstring("0.0.0.0"));
  const auto multicast = try_open(context, "224.0.0.1:7946", sockets);
  REQUIRE(multicast);
  CHECK(multicast->code == errc::invalid_address);
  CHECK_THAT(multicast->text, Catch::Matchers::ContainsSubstring("224.0.0.1:7946"));
  // Without a number of an interface, and with one that no interface has.
  for (const std::string lost : {"[fe80::77]:7946", "[fe80::77%2147483647]:7946"}) {
    const auto found = try_open(context, lost, sockets);
    REQUIRE(found);
    CHECK(found->code == errc::invalid_address);
    CHECK_THAT(found->text, Catch::Matchers::ContainsSubstring(lost) &&
                                Catch::Matchers::ContainsSubstring("[fe80::1%2]:7946"));
  }
}

TEST_CASE("The IPv6 wildcard takes IPv4 too, and an IPv6 address leaves the IPv4 port free") {
  asio::io_context context;
  std::optional<listening_sockets> both;
  REQUIRE_FALSE(try_open(context, "[::]:0", both));
  asio::ip::tcp::socket caller(context);
  caller.connect(to_asio<asio::ip::tcp>(endpoint::v4({127, 0, 0, 1}, both->local.port), false));
  CHECK(caller.is_open());

  std::optional<listening_sockets> v6;
  REQUIRE_FALSE(try_open(context, "[::1]:0", v6));
  std::optional<listening_sockets> v4;
  CHECK_FALSE(try_open(context, "127.0.0.1:" + std::to_string(v6->local.port), v4));
}

}  // namespace
}  // namespace lifering::net
