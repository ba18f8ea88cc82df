// Names and services, asked of a name server of our own.
#include "net/name_service.hpp"

#include <asio/error.hpp>

#include "net/advertise.hpp"
#include "net/seed.hpp"
#include "support/catch.hpp"
#include "support/name_server.hpp"

namespace lifering::net {
namespace {

using lifering_test::name_server;

std::vector<std::string> found_by(const name_server& server, const std::string& asked) {
  const name_service names(endpoint::parse(server.address()));
  std::vector<endpoint> found;
  std::vector<std::string> texts;
  if (const auto error = names.look_up(asked, found)) return {error.message()};
  for (const auto& each : found)
    texts.push_back(each.to_string());
  return texts;
}

using texts = std::vector<std::string>;

TEST_CASE("A host's addresses are those of its A and AAAA records", "[dns]") {
  name_server server;
  server.add_v4("a.test", "10.0.0.1");
  server.add_v4("a.test", "10.0.0.2");
  server.add_v6("a.test", "2001:db8::1");
  server.add_v4("four.test", "10.0.0.3");
  CHECK(found_by(server, "a.test") == texts{"10.0.0.1:0", "10.0.0.2:0", "[2001:db8::1]:0"});
  CHECK(found_by(server, "four.test") == texts{"10.0.0.3:0"});
  CHECK(server.questions() >= 4);
}

TEST_CASE("A name that the server doesn't know is not found", "[dns]") {
  name_server server;
  const name_service names(endpoint::parse(server.address()));
  std::vector<endpoint> found;
  CHECK(names.look_up("absent.test", found) == asio::error::host_not_found);
  CHECK(found.empty());
  std::vector<service_host> hosts;
  CHECK(names.look_up_service("_lifering._udp.absent.test", hosts) == asio::error::host_not_found);
  CHECK(hosts.empty());
}

TEST_CASE("A service is its hosts with their ports, the preferred first", "[dns]") {
  name_server server;
  const std::string service = "_lifering._udp.shop.test";
  server.add_service(service, 20, 0, 7003, "c.test");
  server.add_service(service, 10, 1, 7001, "a.test");
  server.add_service(service, 10, 5, 7002, "b.test");
  server.add_service(service, 0, 0, 1, "");  // Not to be had there.
  const name_service names(endpoint::parse(server.address()));
  std::vector<service_host> hosts;
  CHECK_FALSE(names.look_up_service(service, hosts));
  CHECK(hosts == std::vector<service_host>{{"b.test", 7002}, {"a.test", 7001}, {"c.test", 7003}});
}

TEST_CASE("A server that is silent fails the lookup in the end", "[dns]") {
  name_server server;
  server.be_mute(true);
  const name_service names(endpoint::parse(server.address()));
  std::vector<endpoint> found;
  CHECK(names.look_up("absent.test", found) == asio::error::host_not_found_try_again);
}

TEST_CASE("A seed is a service if it says so or looks like one", "[dns]") {
  const auto service = [](std::string_view text) {
    const auto parsed = seed::parse(text);
    return parsed && parsed->is_service ? parsed->host : "";
  };
  CHECK(service("srv:_lifering._udp.example.com") == "_lifering._udp.example.com");
  CHECK(service("_lifering._udp.example.com") == "_lifering._udp.example.com");
  CHECK(service("srv:example.com") == "example.com");
  CHECK(service("example.com").empty());
  CHECK(service("_host.example.com").empty());
  CHECK_FALSE(seed::parse("srv:"));
  CHECK_FALSE(seed::parse("srv:a:80"));
  CHECK_FALSE(seed::parse("srv:10.0.0.1"));
}

TEST_CASE("What is advertised is an address or a host, with a port or without", "[dns]") {
  const auto parsed = [](std::string_view text) -> std::string {
    const auto given = advertise_text::parse(text);
    if (!given) return "none";
    if (given->address) return given->address->to_string();
    return given->host + '|' + std::to_string(given->port);
  };
  CHECK(parsed("10.0.0.1:80") == "10.0.0.1:80");
  CHECK(parsed("10.0.0.1") == "10.0.0.1:0");
  CHECK(parsed("[::1]:80") == "[::1]:80");
  CHECK(parsed("node.test:80") == "node.test|80");
  CHECK(parsed("node.test") == "node.test|0");
  CHECK(parsed("srv:node.test") == "none");
  CHECK(parsed("node.test:") == "none");
  CHECK(parsed("") == "none");
  CHECK(parsed("1.2.3") == "none");
}

TEST_CASE("A host is advertised by its first address that can be one and that the socket speaks",
          "[dns]") {
  name_server server;
  server.add_v4("node.test", "0.0.0.0");
  server.add_v4("node.test", "224.0.0.1");
  server.add_v4("node.test", "10.0.0.7");
  server.add_v6("node.test", "2001:db8::7");
  server.add_v4("nowhere.test", "0.0.0.0");
  const name_service names(endpoint::parse(server.address()));
  endpoint out;
  const auto given = *advertise_text::parse("node.test:4000");
  REQUIRE_FALSE(find_advertised(given, *endpoint::parse("0.0.0.0:1"), names, out));
  CHECK(out.to_string() == "10.0.0.7:4000");
  REQUIRE_FALSE(find_advertised(given, *endpoint::parse("[::1]:1"), names, out));
  CHECK(out.to_string() == "[2001:db8::7]:4000");
  for (const auto* host : {"nowhere.test", "absent.test"}) {
    const auto found =
        find_advertised(*advertise_text::parse(host), *endpoint::parse("0.0.0.0:1"), names, out);
    REQUIRE(found);
    CHECK(found->code == errc::invalid_address);
    CHECK(found->text.find(host) != std::string::npos);
  }
}

}  // namespace
}  // namespace lifering::net
