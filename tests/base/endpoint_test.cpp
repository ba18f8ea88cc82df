// Addresses as text: what is read, what it means, how it is written, and what is refused.
#include <lifering/endpoint.hpp>
#include <string>

#include "support/catch.hpp"

using lifering::endpoint;
using namespace std::string_literals;

TEST_CASE("an address is read, and written in the one form that is read back alike", "[base]") {
  struct row {
    std::string text;
    std::string written;
    bool v4;
  };
  const row rows[] = {
      {"1.2.3.4:7946", "1.2.3.4:7946", true},
      {"1.2.3.4", "1.2.3.4:99", true},
      {"0.0.0.0:0", "0.0.0.0:0", true},
      {"255.255.255.255:65535", "255.255.255.255:65535", true},
      {"[::1]:7946", "[::1]:7946", false},
      {"[::1]", "[::1]:99", false},
      {"::1", "[::1]:99", false},
      {"::", "[::]:99", false},
      {"2001:db8::1", "[2001:db8::1]:99", false},
      {"[2001:0DB8:0:0::0:1]:1", "[2001:db8::1]:1", false},
      {"[fe80::1%2]:7946", "[fe80::1%2]:7946", false},
      {"fe80::1%4294967295", "[fe80::1%4294967295]:99", false},
      {"[fe80::1%0]:7946", "[fe80::1]:7946", false},
      {"::ffff:1.2.3.4", "1.2.3.4:99", true},
      {"[::ffff:1.2.3.4]:5", "1.2.3.4:5", true},
      {"[::ffff:102:304]:5", "1.2.3.4:5", true},
      {"[febf:ffff:ffff:ffff:ffff:ffff:255.255.255.255%4294967295]:65535",
       "[febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff%4294967295]:65535", false},
  };
  for (const row& expected : rows) {
    CAPTURE(expected.text);
    const auto read = endpoint::parse(expected.text, 99);
    REQUIRE(read);
    CHECK(read->to_string() == expected.written);
    CHECK(read->is_v4() == expected.v4);
    CHECK(endpoint::parse(expected.written) == read);
  }
}

TEST_CASE("what is no address is refused, never guessed at", "[base]") {
  const std::string bad[] = {
      "",
      ":",
      ":7946",
      "[]:7946",
      "[::1",
      "::1]",
      "[::1]7946",
      "[::1]:",
      "[::1]:x",
      "[::1]:65536",
      "[::1]:-1",
      "[::1]: 1",
      "[::1]:1 ",
      "[[::1]]:1",
      "[1.2.3.4]:1",  // brackets are for IPv6
      "1.2.3.4:",
      "1.2.3.4:65536",
      "1.2.3.4:+1",
      "1.2.3.4:0x10",
      "1.2.3.4:1:2",
      "1.2.3",
      "1.2.3.256",
      "1.2.3.4.5",
      "1.2.3.04",
      " 1.2.3.4",
      "1.2.3.4 ",
      "1.2.3.4%1",
      "::ffff:1.2.3.4%1",  // would be a second identity of 1.2.3.4
      "2001:db8::1%2",     // a scope belongs to link-local addresses
      "fec0::1%2",
      "::1%1",
      "fe80::1%",
      "fe80::1%eth0",
      "fe80::1%-1",
      "fe80::1%4294967296",
      "fe80::1%1%2",
      "12345::",
      "1:2:3:4:5:6:7:8:9",
      "1::2::3",
      "localhost",
      "localhost:7946",
      "1.2.3.4\0"s,
      "1.2.3.4\0:80"s,
      "::1\0x"s,
      std::string(1000, '1'),
      std::string(1000, ':'),
  };
  for (const std::string& text : bad) {
    CAPTURE(text);
    CHECK_FALSE(endpoint::parse(text, 99));
  }
}

TEST_CASE("an IPv4 address has one identity, however it was written", "[base]") {
  const endpoint plain = endpoint::v4({10, 0, 0, 1}, 80);
  CHECK(endpoint::parse("10.0.0.1:80") == plain);
  CHECK(endpoint::parse("[::ffff:10.0.0.1]:80") == plain);
  CHECK(endpoint::parse("[::ffff:a00:1]:80") == plain);
  CHECK(endpoint::parse("10.0.0.1:81") != plain);
  // The old v4-compatible form is another address.
  CHECK(endpoint::parse("[::10.0.0.1]:80") != plain);
}

TEST_CASE("kinds of address are told apart, in both families", "[base]") {
  struct row {
    const char* text;
    bool unspecified, loopback, multicast;
  };
  const row rows[] = {
      {"0.0.0.0", true, false, false},
      {"::", true, false, false},
      {"::ffff:0.0.0.0", true, false, false},
      {"127.0.0.1", false, true, false},
      {"127.255.0.9", false, true, false},
      {"128.0.0.1", false, false, false},
      {"::1", false, true, false},
      {"::2", false, false, false},
      {"::ffff:127.0.0.1", false, true, false},
      {"1::1", false, false, false},
      {"223.255.255.255", false, false, false},
      {"224.0.0.1", false, false, true},
      {"239.255.255.255", false, false, true},
      {"240.0.0.1", false, false, false},
      {"ff02::1", false, false, true},
      {"fe80::1", false, false, false},
      {"0.0.0.1", false, false, false},
  };
  for (const row& expected : rows) {
    CAPTURE(expected.text);
    const endpoint read = *endpoint::parse(expected.text);
    CHECK(read.is_unspecified() == expected.unspecified);
    CHECK(read.is_loopback() == expected.loopback);
    CHECK(read.is_multicast() == expected.multicast);
  }
}

TEST_CASE("addresses are ordered by address, then port, then scope", "[base]") {
  CHECK(*endpoint::parse("10.0.0.1:2") < *endpoint::parse("10.0.0.2:1"));
  CHECK(*endpoint::parse("10.0.0.1:1") < *endpoint::parse("10.0.0.1:2"));
  CHECK(*endpoint::parse("[fe80::1%1]:2") < *endpoint::parse("[fe80::1%2]:2"));
  CHECK(*endpoint::parse("[fe80::1%2]:1") < *endpoint::parse("[fe80::1%1]:2"));
}
