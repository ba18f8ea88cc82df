// The public interface, on the library's own threads and on loopback sockets.
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <future>
#include <map>
#include <thread>

#include "cluster/facade_support.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using lifering::cluster;
using lifering::errc;
using lifering::event_kind;
using lifering::weight;

TEST_CASE("a member alone owns every key", "[cluster]") {
  cluster alone(member_options("a"));
  CHECK_FALSE(alone.owner("key").has_value());
  alone.start();
  CHECK(alone.members().size() == 1);
  CHECK(alone.owns("key"));
  REQUIRE(alone.owner("key").has_value());
  CHECK(alone.owner("key")->address == alone.local_address());
  CHECK_FALSE(alone.owner("").has_value());
  CHECK(alone.owners("key", 5).size() == 1);
  CHECK(alone.self().name == "a");
  CHECK(alone.leave() == 0);
  CHECK_FALSE(alone.owns("key"));
}

TEST_CASE("two members agree on who owns what, at once after the join", "[cluster]") {
  cluster first(member_options("a"));
  first.start();
  auto options = member_options("b");
  options.service = "10.1.2.3:80";
  cluster second(options);
  second.start();
  CHECK(second.join(seeds_of(first)) == 1);
  CHECK(second.members().size() == 2);
  REQUIRE(first.wait_for(2, patience));
  CHECK(first.ring().fingerprint() == second.ring().fingerprint());
  REQUIRE(first.find("b").has_value());
  CHECK(first.find("b")->service == "10.1.2.3:80");
  int owned = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string key = "key-" + std::to_string(i);
    CHECK(first.owner(key)->name == second.owner(key)->name);
    CHECK(first.owns(key) != second.owns(key));
    owned += first.owns(key) ? 1 : 0;
  }
  CHECK(owned > 400);
  CHECK(owned < 600);
}

TEST_CASE("operations out of turn are refused and change nothing", "[cluster]") {
  std::error_code error;
  cluster member(member_options("a"));
  member.join({}, error);
  CHECK(error == errc::not_started);
  member.leave(error);
  CHECK(error == errc::not_started);
  member.set_weight(weight{}, error);
  CHECK(error == errc::not_started);
  CHECK_THROWS_AS(member.set_metadata("m"), std::system_error);

  member.start(error);
  CHECK_FALSE(error);
  member.start(error);
  CHECK(error == errc::already_started);
  member.join({"not a seed"}, error);
  CHECK(error == errc::invalid_seed);
  CHECK_THROWS_WITH(member.join({"not a seed"}),
                    Catch::Matchers::ContainsSubstring("\"not a seed\""));

  member.stop();
  member.stop();
  member.join({}, error);
  CHECK(error == errc::stopped);
  member.leave(error);
  CHECK(error == errc::stopped);
  member.start(error);
  CHECK(error == errc::stopped);
  CHECK(member.members().size() == 1);  // the last view
}

TEST_CASE("options that are wrong are refused by the constructor, in a sentence", "[cluster]") {
  auto options = member_options("");
  CHECK_THROWS_WITH(cluster(options), Catch::Matchers::ContainsSubstring("the name is empty"));
}

TEST_CASE("a port in use is said with its number, and another start may follow", "[cluster]") {
  auto first = std::make_unique<cluster>(member_options("a"));
  first->start();
  auto options = member_options("b");
  options.bind = first->local_address().to_string();
  cluster second(options);
  const auto problem = second.try_start();
  REQUIRE(problem.has_value());
  CHECK(problem->code == errc::address_in_use);
  CHECK(problem->text.find(options.bind) != std::string::npos);
  first.reset();
  CHECK_FALSE(second.try_start().has_value());
}

TEST_CASE("without an answer from any seed the member serves alone, and finds them later",
          "[cluster]") {
  cluster late(member_options("late"));
  late.start();
  const auto address = late.local_address();
  late.stop();  // Its port is free now, and nobody answers there.

  cluster early(member_options("early"));
  early.start();
  std::error_code error;
  early.join({address.to_string()}, error, 300ms);
  CHECK(error == errc::no_seed_answered);
  CHECK(early.owns("key"));

  auto options = member_options("late");
  options.bind = address.to_string();
  cluster again(options);
  again.start();
  CHECK(early.wait_for(2, patience));
}

TEST_CASE("one's own address among the seeds is ignored", "[cluster]") {
  cluster member(member_options("a"));
  member.start();
  CHECK(member.join(seeds_of(member)) == 0);
  CHECK(member.members().size() == 1);
}

TEST_CASE("another cluster's members and another placement's are refused with the reason",
          "[cluster]") {
  cluster seed(member_options("a"));
  seed.start();
  std::error_code error;

  auto options = member_options("b");
  options.cluster = "another";
  cluster foreign(options);
  foreign.start();
  foreign.join(seeds_of(seed), error, 3s);
  CHECK(error == errc::wrong_cluster);

  options = member_options("c");
  options.placement = lifering::placement_options::classic();
  cluster differing(options);
  differing.start();
  differing.join(seeds_of(seed), error, 3s);
  CHECK(error == errc::wrong_placement);

  CHECK(seed.members().size() == 1);
  CHECK(foreign.members().size() == 1);
}

TEST_CASE("who leaves is reported as left, and may join again with the same object", "[cluster]") {
  event_memory seen;
  event_memory seen_by_goer;
  auto options = member_options("stays");
  options.ring_gather = 0ms;
  cluster stays(options);
  seen.attach(stays);
  stays.start();
  auto restarts = std::make_unique<cluster>(member_options("restarts"));
  restarts->start();
  restarts->join(seeds_of(stays));
  options.name = "goes";
  cluster goes(options);
  seen_by_goer.attach(goes);
  goes.start();
  for (int cycle = 1; cycle <= 50; ++cycle) {
    INFO("cycle " << cycle);
    REQUIRE(goes.join(seeds_of(stays)) == 1);
    REQUIRE(goes.find("stays").has_value());
    REQUIRE(seen.has(event_kind::joined, "goes", cycle));
    REQUIRE(goes.leave() >= 1);
    REQUIRE(seen.has(event_kind::left, "goes", cycle));
    REQUIRE_FALSE(stays.find("goes").has_value());
    REQUIRE_FALSE(goes.find("goes").has_value());
    REQUIRE_FALSE(goes.owns("key"));
    // What happens while it is away: now a departure, now an arrival.
    if (restarts) {
      restarts->leave();
      restarts.reset();
    } else {
      restarts = std::make_unique<cluster>(member_options("restarts"));
      restarts->start();
      restarts->join(seeds_of(stays));
    }
  }
  // Its events alternated, whatever it missed; and nobody was ever taken for dead.
  REQUIRE(goes.join(seeds_of(stays)) == 1);
  CHECK(eventually([&] {
    return goes.members().size() == stays.members().size() &&
           goes.ring().fingerprint() == stays.ring().fingerprint();
  }));
  for (auto* events : {&seen, &seen_by_goer}) {
    std::map<std::string, bool> present;
    for (const auto& each : events->all()) {
      const auto* change = std::get_if<lifering::member_event>(&each);
      if (change == nullptr) continue;
      const auto& name = change->subject.name;
      INFO(to_string(change->kind) << ' ' << name);
      CHECK(change->kind != event_kind::failed);
      if (change->kind == event_kind::joined) {
        CHECK_FALSE(present[name]);
        present[name] = true;
      } else if (change->kind == event_kind::left) {
        CHECK(present[name]);
        present[name] = false;
      }
    }
  }
}

TEST_CASE("what a member says of itself reaches the others", "[cluster]") {
  event_memory seen;
  cluster first(member_options("a"));
  seen.attach(first);
  first.start();
  cluster second(member_options("b"));
  second.start();
  second.join(seeds_of(first));
  REQUIRE(first.wait_for(2, patience));

  second.set_metadata("version=2");
  CHECK(eventually([&] { return first.find("b")->metadata == "version=2"; }));
  CHECK(second.self().metadata == "version=2");

  second.set_weight(*weight::parse("0"));
  CHECK(eventually([&] {
    for (int i = 0; i < 50; ++i) {
      if (first.owner(std::to_string(i))->name != "a") return false;
    }
    return first.ring().fingerprint() == second.ring().fingerprint();
  }));
  second.set_weight(weight{});
  CHECK(eventually([&] { return first.ring().share("b") > 0; }));

  second.drain();
  CHECK(eventually([&] { return first.ring().find("b") == nullptr; }));
  CHECK(first.members().size() == 2);
  second.ready();
  CHECK(eventually([&] { return first.ring().find("b") != nullptr; }));
  CHECK(seen.has(event_kind::updated, "b"));

  std::error_code error;
  second.set_metadata(std::string(16385, 'x'), error);
  CHECK(error == errc::metadata_too_large);
}

TEST_CASE("a member that joins without taking keys takes them when it is ready", "[cluster]") {
  cluster first(member_options("a"));
  first.start();
  auto options = member_options("b");
  options.phase = lifering::member_phase::joining;
  cluster second(options);
  second.start();
  second.join(seeds_of(first));
  CHECK(second.ring().find("b") == nullptr);
  CHECK(second.owner("key")->name == "a");
  second.ready();
  CHECK(eventually([&] { return first.ring().find("b") != nullptr; }));
}

TEST_CASE("a crashed member is reported as failed, and can be forgotten", "[cluster]") {
  event_memory seen;
  cluster first(member_options("a"));
  seen.attach(first);
  first.start();
  auto second = std::make_unique<cluster>(member_options("b"));
  second->start();
  second->join(seeds_of(first));
  REQUIRE(first.wait_for(2, patience));
  second.reset();  // without leaving
  CHECK(seen.has(event_kind::failed, "b"));
  CHECK(first.ring().find("b") == nullptr);
  std::error_code error;
  first.forget("b", error);
  CHECK_FALSE(error);
  first.forget("nobody", error);
  CHECK(error == errc::unknown_member);
}

TEST_CASE("of two that run under one name the older is told and stops", "[cluster]") {
  cluster seed(member_options("seed"));
  seed.start();
  event_memory seen;
  cluster older(member_options("twin"));
  seen.attach(older);
  older.start();
  older.join(seeds_of(seed));
  cluster newer(member_options("twin"));
  newer.start();
  std::error_code error;
  newer.join(seeds_of(seed), error);
  CHECK(seen.has(event_kind::superseded, "twin"));
  CHECK(eventually([&] {
    older.leave(error, 10ms);
    return error == errc::stopped;
  }));
  CHECK(eventually([&] {
    const auto held = seed.find("twin");
    return held && held->address == newer.local_address();
  }));
}

TEST_CASE("an older life is told also where nobody but probes could tell", "[cluster]") {
  // One other member, whose answers to a stranger's address are short, and no comparison of views.
  const auto patient = [](const std::string& name) {
    auto options = member_options(name);
    options.protocol.push_pull_interval = 0ms;
    return options;
  };
  cluster seed(patient("seed"));
  seed.start();
  event_memory seen;
  cluster older(patient("twin"));
  seen.attach(older);
  older.start();
  older.join(seeds_of(seed));
  cluster newer(patient("twin"));
  newer.start();
  newer.join(seeds_of(seed));
  CHECK(seen.has(event_kind::superseded, "twin"));
  CHECK(eventually([&] { return newer.wait_for(2, 0ms); }));
}

TEST_CASE("a life whose only seed is its own older life replaces it", "[cluster]") {
  event_memory seen;
  cluster older(member_options("twin"));
  seen.attach(older);
  older.start();
  cluster newer(member_options("twin"));
  newer.start();
  std::error_code error;
  newer.join(seeds_of(older), error);
  CHECK(seen.has(event_kind::superseded, "twin"));
  newer.set_metadata("still here", error);
  CHECK_FALSE(error);
  CHECK(newer.owns("key"));
}

TEST_CASE("a leave ends when the hosts of all peers say that nobody is there", "[cluster]") {
  cluster first(member_options("a"));
  first.start();
  cluster second(member_options("b"));
  second.start();
  second.join(seeds_of(first));
  first.stop();
  CHECK(second.leave(patience) == 0);
}

TEST_CASE("stop ends a leave that waits in vain, from another thread", "[cluster]") {
  asio::io_context context;
  cluster first(context, member_options("a"));
  first.start();
  auto work = asio::make_work_guard(context);
  std::thread runner([&] { context.run(); });
  cluster second(member_options("b"));
  second.start();
  second.join(seeds_of(first));
  context.stop();  // From now on nobody reads at the other end, nor says that nobody is there.
  runner.join();
  std::error_code error;
  auto leaving = std::async(std::launch::async, [&] { second.leave(error, patience); });
  CHECK(eventually([&] { return !second.owns("key") && !second.find("b"); }));
  second.stop();
  leaving.get();
  CHECK(error == errc::canceled);
}

TEST_CASE("peers that hold one ring say that they agree", "[cluster]") {
  cluster first(member_options("a"));
  first.start();
  cluster second(member_options("b"));
  second.start();
  second.join(seeds_of(first));
  CHECK(eventually([&] {
    const auto agreement = first.agreement();
    return agreement.agreeing == 1 && agreement.differing == 0 && agreement.agreed_for;
  }));
}

TEST_CASE("log lines go to the given sink, one call at a time", "[cluster]") {
  std::atomic<int> inside{0};
  std::atomic<int> lines{0};
  std::atomic<bool> overlapped{false};
  auto options = member_options("a");
  options.level = lifering::log_level::debug;
  options.log = [&](lifering::log_level, std::string_view line) {
    if (++inside > 1) overlapped = true;
    CHECK(line.find('\n') == std::string_view::npos);
    ++lines;
    --inside;
  };
  {
    cluster member(options);
    member.on_event([](const lifering::event&) { throw std::runtime_error("on purpose"); });
    member.start();
    CHECK(eventually([&] { return stat(member, "callbacks_thrown") == 1; }));
    CHECK(eventually([&] { return lines > 1; }));
  }
  CHECK_FALSE(overlapped);
}

TEST_CASE("a log sink that throws loses its lines and nothing else", "[cluster]") {
  cluster first(member_options("a"));
  first.start();
  auto options = member_options("b");
  options.level = lifering::log_level::debug;
  std::atomic<int> lines{0};
  options.log = [&](lifering::log_level, std::string_view) {
    ++lines;
    throw std::runtime_error("on purpose");
  };
  cluster member(options);
  member.start();
  CHECK(member.join(seeds_of(first)) == 1);
  CHECK(member.leave() == 1);
  CHECK(lines > 1);
}

TEST_CASE("readers on other threads see whole views while members come and go", "[cluster]") {
  cluster first(member_options("a"));
  first.start();
  std::atomic<bool> over{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!over) {
        const auto owner = first.owner("key");
        const auto all = first.members();
        if (!owner || all.empty() || first.owners("key", 3).empty()) over = true;
        static_cast<void>(first.owns("key"));
        static_cast<void>(first.stats());
      }
    });
  }
  for (int i = 0; i < 10 && !over; ++i) {
    cluster other(member_options("b"));
    other.start();
    other.join(seeds_of(first));
    other.leave();
  }
  CHECK_FALSE(over.exchange(true));
  for (auto& each : readers)
    each.join();
}
