// What a person reads when a call of the facade is refused, and times that no clock reaches.
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <functional>

#include "cluster/facade_support.hpp"
#include "support/catch.hpp"
#include "support/log_memory.hpp"

using namespace lifering_test;
using lifering::cluster;
using lifering::errc;

namespace {

struct refusal {
  std::string what;
  std::function<void()> call;
  errc code;
  std::string sentence;  ///< A part of it.
};

void check(const std::vector<refusal>& refusals) {
  for (const auto& each : refusals) {
    INFO(each.what);
    try {
      each.call();
      FAIL_CHECK("nothing was thrown");
    } catch (const std::system_error& error) {
      const std::string said = error.what();
      INFO(said);
      CHECK(error.code() == each.code);
      CHECK(said.find(each.sentence) != std::string::npos);
      // The code's own words, which std::system_error adds, would say it twice.
      CHECK(said.find(": " + error.code().message()) == std::string::npos);
    }
  }
}

}  // namespace

TEST_CASE("a refused call throws one sentence that names the value", "[cluster]") {
  cluster first(member_options("a"));
  first.start();
  cluster second(member_options("b"));
  second.start();
  second.join(seeds_of(first));
  REQUIRE(first.wait_for(2, patience));
  auto unnamed = member_options("");
  auto on_slots = member_options("c");
  on_slots.placement.vnodes = 200;
  check({
      {"options", [&] { cluster{unnamed}; }, errc::empty_name, "1 to 255 bytes"},
      {"placement", [&] { cluster{on_slots}; }, errc::invalid_placement, "vnodes is 200"},
      {"second start", [&] { first.start(); }, errc::already_started, "started before"},
      {"seed", [&] { first.join({"a b"}); }, errc::invalid_seed, "\"a b\" is no seed"},
      {"metadata", [&] { first.set_metadata(std::string(16385, 'm')); }, errc::metadata_too_large,
       "16385 bytes; at most 16384"},
      {"service", [&] { first.set_service(std::string(256, 's')); }, errc::service_too_long,
       "256 bytes; at most 255"},
      {"message", [&] { first.send_reliably("b", std::string(2 << 20, 'x')); },
       errc::message_too_large, "2097152 bytes; at most"},
      {"receiver", [&] { first.send("nobody", "x"); }, errc::unknown_member, "\"nobody\""},
      {"forget nobody", [&] { first.forget("nobody"); }, errc::unknown_member, "\"nobody\""},
      {"forget oneself", [&] { first.forget("a"); }, errc::unknown_member,
       "no failed member that is remembered is called \"a\""},
      {"forget a live one", [&] { first.forget("b"); }, errc::unknown_member, "graves() lists"},
      {"leave twice", [&] { second.leave(), second.leave(); }, errc::stopped, "has left"},
  });
}

TEST_CASE("seeds that don't answer are named in the log, each with its reason", "[cluster]") {
  // One accepts and says nothing, the other refuses.
  asio::io_context context;
  using asio::ip::tcp;
  const tcp::endpoint loopback(asio::ip::address_v4::loopback(), 0);
  tcp::acceptor silent(context, loopback);
  tcp::acceptor closed(context, loopback);
  const auto address_of = [](const tcp::acceptor& at) {
    return "127.0.0.1:" + std::to_string(at.local_endpoint().port());
  };
  const std::vector<std::string> seeds{address_of(silent), address_of(closed)};
  closed.close();

  log_memory log;
  auto options = member_options("a");
  options.level = lifering::log_level::warning;
  options.log = log.sink();
  {
    cluster member(options);
    member.start();
    std::error_code error;
    member.join(seeds, error, 300ms);
    CHECK(error == errc::no_seed_answered);
  }
  CHECK(log.says("No seed has answered yet ("));
  CHECK(log.says(seeds[0] + ": no answer in time"));
  CHECK(log.says(seeds[1] + ": nobody is reachable there"));
  CHECK(log.says("Serving alone and trying on."));
}

TEST_CASE("who joins itself alone isn't said to have joined", "[cluster]") {
  cluster other(member_options("other"));
  other.start();
  log_memory log;
  auto options = member_options("a");
  options.level = lifering::log_level::info;
  options.log = log.sink();
  const std::string seed = GENERATE("itself", "another one, whose address it says it has", "none");
  CAPTURE(seed);
  const bool is_mistaken = seed.starts_with("another");
  if (is_mistaken) options.advertise = seeds_of(other).front();
  {
    cluster member(options);
    member.start();
    auto seeds = seeds_of(is_mistaken ? other : member);
    if (seed == "none") seeds.clear();
    CHECK(member.join(seeds) == 0);
  }
  CHECK(log.says("Every seed is ourselves. Serving alone.") == (seed != "none"));
  CHECK(log.says("No seed was given. Serving alone.") == (seed == "none"));
  CHECK_FALSE(log.says("Joined"));
}

TEST_CASE("a time below zero has passed, and one beyond all clocks doesn't end early",
          "[cluster]") {
  constexpr auto least = cluster::milliseconds::min();
  constexpr auto most = cluster::milliseconds::max();
  cluster member(member_options("a"));
  member.start();
  CHECK(member.wait_for(1, least));
  CHECK(member.wait_for(0, -1s));
  CHECK_FALSE(member.wait_for(2, least));
  std::error_code error;
  member.join({"127.0.0.1:1"}, error, least);
  CHECK((error == errc::no_seed_answered || error == errc::timed_out));
  CHECK(error != errc::invalid_seed);

  cluster second(member_options("b"));
  second.start();
  CHECK(second.join(seeds_of(member), most) == 1);
  CHECK(member.wait_for(2, most));
  CHECK(second.leave(most) == 1);
}
