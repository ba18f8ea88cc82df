// What the driver tells people in its log: each thing once, with the address that it is about.
#include <lifering/error.hpp>

#include "net/peer.hpp"
#include "support/catch.hpp"
#include "support/log_memory.hpp"

namespace lifering::net {
namespace {

using lifering_test::log_memory;
using test::peer;
using test::quick_options;

TEST_CASE("The start is logged with addresses, the choice of them, and the buffers") {
  asio::io_context context;
  log_memory log;
  auto options = quick_options("logged", "0.0.0.0:0");
  options.seed_hint = "127.0.0.1:1";
  options.log = base::logger(log.sink(), log_level::info);
  peer logged(context, std::move(options));
  REQUIRE_FALSE(logged.driver().open());
  REQUIRE(log.lines().size() == 1);
  CHECK_THAT(log.lines()[0],
             Catch::Matchers::ContainsSubstring(logged.address()) &&
                 Catch::Matchers::ContainsSubstring("127.0.0.1:") &&
                 Catch::Matchers::ContainsSubstring("the route to the first seed") &&
                 Catch::Matchers::ContainsSubstring("UDP buffers"));
}

TEST_CASE("A seed and an own address outside of the allowed networks are named in the log") {
  asio::io_context context;
  log_memory log;
  auto options = quick_options("logged", "127.0.0.1:0");
  REQUIRE_FALSE(allow_list::read({"10.0.0.0/8"}, options.allow));
  options.log = base::logger(log.sink(), log_level::warning);
  peer logged(context, std::move(options));
  REQUIRE_FALSE(logged.driver().open());
  logged.driver().start();
  REQUIRE(log.lines().size() == 1);
  CHECK_THAT(log.lines()[0],
             Catch::Matchers::ContainsSubstring(logged.address() + " lies outside"));
  const auto* done = logged.completion(logged.join({"127.0.0.1:9"}));
  REQUIRE(done);
  CHECK(done->error == errc::no_seed_answered);
  REQUIRE(log.lines().size() == 2);
  CHECK_THAT(log.lines()[1], Catch::Matchers::ContainsSubstring(
                                 "127.0.0.1:9 lies outside of the allowed networks"));
}

TEST_CASE("A seed without an address is logged once, however often it is asked for") {
  asio::io_context context;
  log_memory log;
  auto options = quick_options("logged", "127.0.0.1:0");
  options.log = base::logger(log.sink(), log_level::warning);
  peer logged(context, std::move(options));
  REQUIRE_FALSE(logged.driver().open());
  logged.driver().start();
  REQUIRE(logged.completion(logged.join({"[::1]:7946"})));
  REQUIRE(logged.completion(logged.join({"[::1]:7946"})));
  REQUIRE(log.lines().size() == 1);
  CHECK_THAT(log.lines()[0], Catch::Matchers::ContainsSubstring("[::1]:7946"));
}

}  // namespace
}  // namespace lifering::net
