#include "net/advertise.hpp"

#include <asio/io_context.hpp>
#include <string>

#include "net/seed.hpp"
#include "support/catch.hpp"

namespace lifering::net {
namespace {

std::optional<endpoint> maybe(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return endpoint::parse(text);
}

struct choice {
  std::optional<problem> found;
  advertised chosen;
};

choice choose(std::string_view bound, std::string_view given, std::string_view hint = "") {
  asio::io_context context;
  choice result;
  result.found = choose_advertised(asio::make_strand(context), *endpoint::parse(bound),
                                   maybe(given), maybe(hint), result.chosen);
  return result;
}

TEST_CASE("The bound address is advertised unless another one is given") {
  CHECK(choose("127.0.0.5:7946", "").chosen.address.to_string() == "127.0.0.5:7946");
  CHECK(choose("[::1]:7946", "").chosen.address.to_string() == "[::1]:7946");
  CHECK(choose("127.0.0.5:7946", "198.51.100.7:80").chosen.address.to_string() ==
        "198.51.100.7:80");
}

TEST_CASE("A given address without a port takes the bound port") {
  CHECK(choose("0.0.0.0:1234", "198.51.100.7").chosen.address.to_string() == "198.51.100.7:1234");
}

TEST_CASE("A wildcard is never advertised") {
  const auto* bound = GENERATE("0.0.0.0:7946", "[::]:7946");
  const auto [found, chosen] = choose(bound, "");
  CHECK_FALSE(found);
  CHECK_FALSE(chosen.address.is_unspecified());
  CHECK_FALSE(chosen.address.is_multicast());
  CHECK(chosen.address.port == 7946);
  CHECK_FALSE(chosen.how.empty());
}

TEST_CASE("A wildcard advertises the address of the route to the first seed") {
  const auto v4 = choose("0.0.0.0:7946", "", "127.0.0.1:5000").chosen;
  CHECK(v4.address.to_string() == "127.0.0.1:7946");
  CHECK(v4.how == "the route to the first seed");
  CHECK(choose("[::]:7946", "", "[::1]:5000").chosen.address.to_string() == "[::1]:7946");
  CHECK(choose("[::]:7946", "", "127.0.0.1:5000").chosen.address.to_string() == "127.0.0.1:7946");
}

TEST_CASE("A seed of the other family decides nothing for an IPv4 socket") {
  const auto chosen = choose("0.0.0.0:7946", "", "[::1]:5000").chosen;
  CHECK(chosen.address.is_v4());
  CHECK(chosen.how != "the route to the first seed");
}

TEST_CASE("Addresses that no member can be reached at are refused with a reason") {
  const auto* given = GENERATE("0.0.0.0:7946", "[::]:7946", "224.0.0.1:7946", "[ff02::1]:7946",
                               "255.255.255.255:7946");
  const auto found = choose("127.0.0.1:7946", given).found;
  REQUIRE(found);
  CHECK(found->code == errc::invalid_address);
  CHECK_THAT(found->text, Catch::Matchers::ContainsSubstring(given) &&
                              Catch::Matchers::ContainsSubstring("give the address"));
}

TEST_CASE("A seed is an address or a name, with a port or the default one") {
  const auto is_address = [](std::string_view text) {
    const auto found = seed::parse(text);
    return found && found->address ? found->address->to_string() : std::string("none");
  };
  CHECK(is_address("10.0.0.1") == "10.0.0.1:7946");
  CHECK(is_address("10.0.0.1:80") == "10.0.0.1:80");
  CHECK(is_address("[2001:db8::1]:80") == "[2001:db8::1]:80");
  CHECK(is_address("[2001:db8::1]") == "[2001:db8::1]:7946");
  CHECK(is_address("2001:db8::1") == "[2001:db8::1]:7946");
  CHECK(is_address("::ffff:10.0.0.1") == "10.0.0.1:7946");

  const auto is_name = [](std::string_view text) {
    const auto found = seed::parse(text);
    return found && !found->address ? found->host + " " + std::to_string(found->port)
                                    : std::string("none");
  };
  CHECK(is_name("seeds.example.org") == "seeds.example.org 7946");
  CHECK(is_name("seeds.example.org.:80") == "seeds.example.org. 80");
  CHECK(is_name("cache_1") == "cache_1 7946");
  CHECK(is_name("0a") == "0a 7946");
}

TEST_CASE("What is no seed is said to be none") {
  const auto* text =
      GENERATE("", ":", ":80", "host:", "host:0", "host:65536", "host:8o", "host:-1", "host: 80",
               "host:1:2", "[::1", "[host]:80", "[10.0.0.1]:80", "a b", "a/b", "-a", ".a", "1.2.3",
               "1.2.3.4.5", "256.1.1.1", "10.0.0.1:0", "0.0.0.0:7946", "[::]:7946", "224.0.0.1",
               "255.255.255.255:7946", "a..b", "h\xc3\xb6st");
  INFO(text);
  CHECK_FALSE(seed::parse(text));
}

TEST_CASE("A host name may have 253 bytes and not one more") {
  CHECK(seed::parse(std::string(253, 'a')));
  CHECK_FALSE(seed::parse(std::string(254, 'a')));
}

}  // namespace
}  // namespace lifering::net
