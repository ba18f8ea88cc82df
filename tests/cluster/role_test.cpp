// What a member wants to be, how its application fares, and what peers think of the ring.
#include <asio/use_future.hpp>
#include <future>
#include <thread>

#include "cluster/facade_support.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using lifering::cluster;
using lifering::errc;
using lifering::event_kind;
using lifering::member_phase;
using lifering::weight;

namespace {

bool serves(const cluster& in, std::string_view name) {
  return in.ring().find(name) != nullptr;
}

/// Two that see each other. `b` is made of these options.
struct pair_of_members {
  explicit pair_of_members(lifering::options options = member_options("b"))
      : first(member_options("a")), second(std::move(options)) {
    first.start();
    second.start();
    second.join(seeds_of(first));
    REQUIRE(first.wait_for(2, patience));
  }
  cluster first;
  cluster second;
};

}  // namespace

TEST_CASE("a service address is changed at run time and seen by others", "[role]") {
  pair_of_members both;
  both.second.set_service("10.2.3.4:80");
  CHECK(eventually([&] { return both.first.find("b")->service == "10.2.3.4:80"; }));
  std::error_code error;
  both.second.set_service(std::string(256, 's'), error);
  CHECK(error == errc::service_too_long);
  CHECK_THROWS_WITH(both.second.set_service(std::string(256, 's')),
                    Catch::Matchers::ContainsSubstring("256 bytes"));
  CHECK(both.second.self().service == "10.2.3.4:80");
}

TEST_CASE("an observer is a member that owns nothing", "[role]") {
  auto options = member_options("b");
  options.weight = *weight::parse("0");
  pair_of_members both(std::move(options));
  CHECK(both.second.members().size() == 2);
  CHECK(eventually(
      [&] { return both.first.ring().fingerprint() == both.second.ring().fingerprint(); }));
  for (int i = 0; i < 100; ++i) {
    CHECK(both.first.owner(std::to_string(i))->name == "a");
    CHECK(both.second.owner(std::to_string(i))->name == "a");
  }
}

TEST_CASE("one that is bad for long enough drains, and serves again when it is good for longer",
          "[role]") {
  auto options = member_options("b");
  options.health.bad_for = 200ms;
  options.health.good_for = 400ms;
  pair_of_members both(std::move(options));
  const auto begin = std::chrono::steady_clock::now();
  both.second.set_health(false);
  CHECK(eventually([&] { return !serves(both.first, "b"); }));
  CHECK(std::chrono::steady_clock::now() - begin >= 200ms);
  CHECK(both.first.members().size() == 2);
  // The list of members follows its ring.
  CHECK(eventually([&] { return both.first.find("b")->phase == member_phase::draining; }));
  CHECK(stat(both.second, "sick") == 1);

  // Asking to serve is remembered, but doesn't make well.
  both.second.ready();
  both.second.set_metadata("later");
  CHECK(eventually([&] { return both.first.find("b")->metadata == "later"; }));
  CHECK_FALSE(serves(both.first, "b"));

  const auto again = std::chrono::steady_clock::now();
  both.second.set_health(true);
  CHECK(eventually([&] { return serves(both.first, "b"); }));
  CHECK(std::chrono::steady_clock::now() - again >= 400ms);
  CHECK(stat(both.second, "sick") == 0);
}

TEST_CASE("a drained member that gets well stays drained", "[role]") {
  auto options = member_options("b");
  options.health.bad_for = 0ms;
  options.health.good_for = 0ms;
  pair_of_members both(std::move(options));
  both.second.drain();
  both.second.set_health(false);
  both.second.set_health(true);
  both.second.set_metadata("later");
  CHECK(eventually([&] { return both.first.find("b")->metadata == "later"; }));
  CHECK_FALSE(serves(both.first, "b"));
  both.second.ready();
  CHECK(eventually([&] { return serves(both.first, "b"); }));
}

TEST_CASE("the check is asked again and again; a throw or its absence is a bad word", "[role]") {
  std::atomic<int> mode{0};  // fine, false, throws, stuck
  std::atomic<int> asked{0};
  auto options = member_options("b");
  options.health.interval = 10ms;
  options.health.bad_for = 30ms;
  options.health.good_for = 30ms;
  options.health.check = [&] {
    ++asked;
    if (mode == 2) throw std::runtime_error("no database");
    while (mode == 3)
      std::this_thread::sleep_for(1ms);
    return mode == 0;
  };
  pair_of_members both(std::move(options));
  CHECK(eventually([&] { return asked > 3; }));
  CHECK(serves(both.first, "b"));
  for (const int bad : {1, 2, 3}) {
    INFO("mode " << bad);
    mode = bad;
    CHECK(eventually([&] { return !serves(both.first, "b"); }));
    mode = 0;
    CHECK(eventually([&] { return serves(both.first, "b"); }));
  }
  CHECK(stat(both.second, "callbacks_thrown") > 0);
  both.second.stop();
  const int after = asked;
  std::this_thread::sleep_for(50ms);
  CHECK(asked == after);
}

TEST_CASE("what is set after a leave is what the next life says", "[role]") {
  pair_of_members both;
  both.second.leave();
  both.second.set_metadata("second life");
  both.second.set_weight(*weight::parse("2"));
  both.second.drain();
  REQUIRE(eventually([&] { return both.first.members().size() == 1; }));
  CHECK_FALSE(both.second.find("b"));
  both.second.join(seeds_of(both.first));
  REQUIRE(both.first.wait_for(2, patience));
  CHECK(eventually([&] { return both.first.find("b")->metadata == "second life"; }));
  CHECK(both.first.find("b")->weight == *weight::parse("2"));
  CHECK(eventually([&] { return both.first.find("b")->phase == member_phase::draining; }));
}

TEST_CASE("graves are listed with how they went, and forgotten ones as left", "[role]") {
  cluster first(member_options("a"));
  first.start();
  CHECK(first.graves().empty());
  {
    cluster crashes(member_options("crashed"));
    crashes.start();
    crashes.join(seeds_of(first));
    cluster leaves(member_options("gone"));
    leaves.start();
    leaves.join(seeds_of(first));
    leaves.leave();
  }
  REQUIRE(eventually([&] { return first.graves().size() == 2; }));
  auto graves = first.graves();
  CHECK(graves[0].name == "crashed");
  CHECK(graves[0].state == lifering::member_state::failed);
  CHECK(graves[1].name == "gone");
  CHECK(graves[1].state == lifering::member_state::left);

  first.async_forget("crashed", asio::use_future).get();
  CHECK(eventually([&] { return first.graves()[0].state == lifering::member_state::left; }));
  CHECK_THROWS_AS(first.async_forget("crashed", asio::use_future).get(), std::system_error);
  CHECK_THROWS_AS(first.async_forget("nobody", asio::use_future).get(), std::system_error);
}

TEST_CASE("agreement counts who says the same as we do now, and who was not heard since",
          "[role]") {
  pair_of_members both;
  const auto all_agree = [&] {
    const auto seen = both.first.agreement();
    return seen.agreeing == 1 && seen.differing == 0 && seen.unheard == 0 && seen.agreed_for &&
           seen.fingerprint == both.first.ring().fingerprint();
  };
  CHECK(eventually(all_agree));
  both.second.set_weight(*weight::parse("3"));
  CHECK(eventually([&] { return both.first.find("b")->weight == *weight::parse("3"); }));
  CHECK(eventually(all_agree));
  const auto before = *both.first.agreement().agreed_for;
  CHECK(eventually([&] {
    const auto agreed = both.first.agreement().agreed_for;
    return agreed && *agreed > before;
  }));
  both.second.stop();  // Never heard again: in the end nobody is there to agree.
  CHECK(eventually([&] {
    const auto seen = both.first.agreement();
    return seen.agreeing == 0 && seen.unheard == 0;
  }));
}
