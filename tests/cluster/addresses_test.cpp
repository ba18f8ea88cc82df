// How members find each other and who is heard: names, services, dead seeds, allowed networks.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/facade_support.hpp"
#include "support/catch.hpp"
#include "support/name_server.hpp"

using namespace lifering_test;
using lifering::cluster;
using lifering::errc;

namespace {

/// An address where TCP connections are neither taken nor refused and datagrams vanish: a listener
/// whose queue is full, and a UDP socket that nobody reads.
class black_hole {
 public:
  black_hole() {
    tcp_ = open(SOCK_STREAM, 0);
    ::listen(tcp_, 0);
    sockaddr_in at{};
    socklen_t size = sizeof at;
    ::getsockname(tcp_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    udp_ = open(SOCK_DGRAM, port_);
    for (int& caller : callers_) {
      caller = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      [[maybe_unused]] const int begun =
          ::connect(caller, reinterpret_cast<const sockaddr*>(&at), size);
    }
  }
  ~black_hole() {
    for (const int each : {tcp_, udp_, callers_[0], callers_[1], callers_[2]})
      ::close(each);
  }
  black_hole(const black_hole&) = delete;
  black_hole& operator=(const black_hole&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  static int open(int type, std::uint16_t port) {
    const int made = ::socket(AF_INET, type, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    if (::bind(made, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) {
      throw std::runtime_error("no port for a black hole");
    }
    return made;
  }

  int tcp_ = -1;
  int udp_ = -1;
  std::uint16_t port_ = 0;
  std::array<int, 3> callers_{-1, -1, -1};
};

std::uint64_t dropped(const cluster& of, std::string_view reason) {
  for (const auto& row : of.stats()) {
    if (row.name == "dropped" && row.reason == reason) return row.value;
  }
  throw std::logic_error("no such reason");
}

}  // namespace

TEST_CASE("thirty dead seeds and a good one join in under two seconds", "[cluster][addresses]") {
  cluster good(member_options("good"));
  good.start();
  std::vector<std::unique_ptr<black_hole>> holes;
  std::vector<std::string> seeds;
  for (int i = 0; i < 30; ++i) {
    holes.push_back(std::make_unique<black_hole>());
    seeds.push_back(holes.back()->address());
  }
  seeds.push_back(seeds_of(good).front());
  auto options = lifering::options::lan();
  options.name = "joiner";
  options.cluster = "test";
  options.bind = "127.0.0.1:0";
  options.level = lifering::log_level::off;
  cluster joiner(options);
  joiner.start();
  const auto begin = std::chrono::steady_clock::now();
  CHECK(joiner.join(seeds, 20s) == 1);
  CHECK(std::chrono::steady_clock::now() - begin < 2s);
  CHECK(joiner.wait_for(2, patience));
}

TEST_CASE("a service's SRV records are seeds", "[cluster][addresses]") {
  name_server names;
  cluster seed(member_options("seed"));
  seed.start();
  names.add_v4("seed.test", "127.0.0.1");
  names.add_service("_lifering._udp.shop.test", 0, 0, seed.local_address().port, "seed.test");
  const auto text =
      GENERATE(as<std::string>{}, "_lifering._udp.shop.test", "srv:_lifering._udp.shop.test");
  auto options = member_options("joiner");
  options.name_server = names.address();
  cluster joiner(options);
  joiner.start();
  CHECK(joiner.join({text}) == 1);
  CHECK(joiner.wait_for(2, patience));
}

TEST_CASE("a seed that has no address yet is looked for again", "[cluster][addresses]") {
  name_server names;
  cluster seed(member_options("seed"));
  seed.start();
  auto options = member_options("joiner");
  options.name_server = names.address();
  cluster joiner(options);
  joiner.start();
  std::error_code error;
  const auto port = std::to_string(seed.local_address().port);
  joiner.join({"late.test:" + port}, error);
  CHECK(error == errc::no_seed_answered);
  names.add_v4("late.test", "127.0.0.1");
  CHECK(joiner.wait_for(2, patience));
}

TEST_CASE("a host name is advertised by its address", "[cluster][addresses]") {
  name_server names;
  names.add_v4("node.test", "127.0.0.1");
  auto options = member_options("named");
  options.name_server = names.address();
  options.advertise = "node.test";
  options.bind = "0.0.0.0:0";
  cluster named(options);
  named.start();
  CHECK(named.self().address.to_string() ==
        "127.0.0.1:" + std::to_string(named.local_address().port));
  options.advertise = "absent.test:80";
  cluster nowhere(options);
  const auto found = nowhere.try_start();
  REQUIRE(found);
  CHECK(found->code == errc::invalid_address);
  CHECK(found->text.find("absent.test") != std::string::npos);
}

TEST_CASE("who lies outside of the allowed networks is not heard, by packet or by stream",
          "[cluster][addresses]") {
  auto options = member_options("closed");
  options.allow = {"10.0.0.0/8", "127.0.0.2"};
  cluster closed(options);
  closed.start();
  cluster outside(member_options("outside"));
  outside.start();
  std::error_code error;
  outside.join(seeds_of(closed), error, 1s);
  CHECK(error == errc::no_seed_answered);
  CHECK(eventually([&] { return dropped(closed, "not_allowed") > 0; }));
  CHECK(closed.members().size() == 1);

  // Nor is anybody called there.
  closed.join(seeds_of(outside), error, 1s);
  CHECK(error == errc::no_seed_answered);
  CHECK(outside.members().size() == 1);

  auto inside_options = member_options("inside");
  inside_options.bind = "127.0.0.2:0";
  cluster inside(inside_options);
  inside.start();
  CHECK(inside.join(seeds_of(closed)) == 1);
  CHECK(closed.wait_for(2, patience));
}

TEST_CASE("a member elsewhere isn't admitted through one who is allowed", "[cluster][addresses]") {
  auto options = member_options("closed");
  options.allow = {"127.0.0.1"};
  cluster closed(options);
  closed.start();
  cluster friendly(member_options("friendly"));
  friendly.start();
  auto far_options = member_options("far");
  far_options.bind = "127.0.0.3:0";
  cluster far(far_options);
  far.start();
  REQUIRE(far.join(seeds_of(friendly)) == 1);
  REQUIRE(friendly.wait_for(2, patience));
  REQUIRE(closed.join(seeds_of(friendly)) == 1);
  CHECK(closed.wait_for(2, patience));
  CHECK(eventually([&] { return dropped(closed, "not_allowed") > 0; }));
  CHECK_FALSE(closed.find("far"));
}

TEST_CASE("addresses that can't be are refused with a sentence that names them",
          "[cluster][addresses]") {
  const auto wrong = [](auto change) {
    auto options = member_options("n");
    change(options);
    const auto found = options.validate();
    return found ? found->text : "";
  };
  using lifering::options;
  CHECK_THAT(wrong([](options& o) { o.advertise = "0.0.0.0:80"; }),
             Catch::Matchers::ContainsSubstring("0.0.0.0:80"));
  CHECK_THAT(wrong([](options& o) { o.advertise = "224.0.0.1:80"; }),
             Catch::Matchers::ContainsSubstring("224.0.0.1"));
  CHECK_THAT(wrong([](options& o) { o.advertise = "255.255.255.255:80"; }),
             Catch::Matchers::ContainsSubstring("255.255.255.255"));
  CHECK_THAT(wrong([](options& o) { o.advertise = "no host:80"; }),
             Catch::Matchers::ContainsSubstring("no host"));
  CHECK_THAT(wrong([](options& o) { o.allow = {"10.0.0.0/40"}; }),
             Catch::Matchers::ContainsSubstring("10.0.0.0/40"));
  CHECK_THAT(wrong([](options& o) { o.name_server = "[::1]:53"; }),
             Catch::Matchers::ContainsSubstring("[::1]:53"));
  CHECK(wrong([](options& o) { o.advertise = "node.example.com:7946"; }).empty());
  CHECK(wrong([](options& o) { o.name_server = "10.0.0.53"; }).empty());
}
