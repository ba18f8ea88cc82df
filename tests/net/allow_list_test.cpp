#include "net/allow_list.hpp"

#include "support/catch.hpp"

namespace lifering::net {
namespace {

bool allows(const std::vector<std::string>& texts, const std::string& address) {
  allow_list list;
  REQUIRE_FALSE(allow_list::read(texts, list));
  return list.allows(*endpoint::parse(address, 1));
}

TEST_CASE("A network holds the addresses that share its prefix, and no others", "[allow]") {
  CHECK(allows({"10.0.0.0/8"}, "10.255.255.255"));
  CHECK_FALSE(allows({"10.0.0.0/8"}, "11.0.0.0"));
  CHECK_FALSE(allows({"10.0.0.0/8"}, "9.255.255.255"));
  CHECK(allows({"192.168.4.0/22"}, "192.168.7.255"));
  CHECK_FALSE(allows({"192.168.4.0/22"}, "192.168.8.0"));
  CHECK(allows({"10.1.2.3"}, "10.1.2.3"));
  CHECK_FALSE(allows({"10.1.2.3"}, "10.1.2.2"));
  CHECK(allows({"10.1.2.2/31"}, "10.1.2.3"));
  CHECK(allows({"2001:db8::/32"}, "[2001:db8:ffff::1]:1"));
  CHECK_FALSE(allows({"2001:db8::/32"}, "[2001:db9::1]:1"));
  CHECK(allows({"2001:db8::8000/113"}, "[2001:db8::ffff]:1"));
  CHECK_FALSE(allows({"2001:db8::8000/113"}, "[2001:db8::7fff]:1"));
  CHECK(allows({"::1"}, "[::1]:1"));
}

TEST_CASE("An IPv4 address is one address, however it is written", "[allow]") {
  CHECK(allows({"10.0.0.0/8"}, "[::ffff:10.1.2.3]:1"));
  CHECK(allows({"::ffff:10.0.0.0/104"}, "10.1.2.3"));
  CHECK_FALSE(allows({"::ffff:10.0.0.0/104"}, "11.1.2.3"));
}

TEST_CASE("All of one family is nothing of the other", "[allow]") {
  CHECK(allows({"0.0.0.0/0"}, "203.0.113.9"));
  CHECK_FALSE(allows({"0.0.0.0/0"}, "[2001:db8::1]:1"));
  CHECK(allows({"::/0"}, "[2001:db8::1]:1"));
  CHECK_FALSE(allows({"::/0"}, "203.0.113.9"));
}

TEST_CASE("Without a list all are allowed, with one those of any of its networks", "[allow]") {
  CHECK(allows({}, "203.0.113.9"));
  CHECK(allow_list().allows_all());
  CHECK(allows({"10.0.0.0/8", "203.0.113.0/24"}, "203.0.113.9"));
  CHECK_FALSE(allows({"10.0.0.0/8", "203.0.113.0/24"}, "203.0.114.9"));
}

TEST_CASE("What is no network is refused with a sentence that names it", "[allow]") {
  for (const std::string text :
       {"", "/", "10.0.0.0/33", "10.0.0.1/8", "10.0.0/8", "10.0.0.0/", "10.0.0.0/8x", "10.0.0.0/-1",
        "10.0.0.0/0008", "10.0.0.0:80", "[::1]", "::1/129", "2001:db8::1/64", "fe80::1%2", "name",
        "::ffff:10.0.0.0/97"}) {
    allow_list list;
    const auto found = allow_list::read({text}, list);
    CAPTURE(text);
    REQUIRE(found);
    CHECK(found->code == errc::invalid_address);
    CHECK(found->text.find('"' + text + '"') != std::string::npos);
  }
}

}  // namespace
}  // namespace lifering::net
