// What may be done inside of event handlers and completions, on both kinds of threads.
#include <asio/executor_work_guard.hpp>
#include <asio/thread_pool.hpp>
#include <future>
#include <latch>

#include "cluster/facade_support.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using lifering::cluster;
using lifering::errc;
using lifering::event;
using lifering::event_kind;
using lifering::member_event;

namespace {

/// An io_context with a thread that runs it.
struct running_context {
  asio::io_context context;
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::thread thread{[this] { context.run(); }};

  ~running_context() {
    work.reset();
    context.stop();
    thread.join();
  }
};

/// Calls every function that is allowed inside of a handler. `error` is what waiting calls say.
void call_everything(cluster& member, std::error_code& waiting) {
  std::error_code error;
  CHECK(member.members().size() >= 1);
  CHECK(member.ring().size() >= 1);
  CHECK(member.owner("key").has_value());
  CHECK_FALSE(member.owners("key", 2).empty());
  static_cast<void>(member.owns("key"));
  static_cast<void>(member.find("nobody"));
  static_cast<void>(member.self());
  static_cast<void>(member.agreement());
  static_cast<void>(member.stats());
  static_cast<void>(member.local_address());
  static_cast<void>(member.get_executor());
  member.on_event({});  // ignored
  member.start(error);
  CHECK(error == errc::already_started);
  member.set_metadata("from inside", error);
  CHECK_FALSE(error);
  member.set_weight(lifering::weight{}, error);
  CHECK_FALSE(error);
  member.drain(error);
  CHECK_FALSE(error);
  member.ready(error);
  CHECK_FALSE(error);
  member.set_service("from inside", error);
  CHECK_FALSE(error);
  member.set_health(true, error);
  CHECK_FALSE(error);
  member.on_message({});  // ignored
  member.broadcast("from inside", error);
  CHECK_FALSE(error);
  member.send("nobody", "from inside", error);
  CHECK(error == errc::unknown_member);
  static_cast<void>(member.graves());
  member.async_join({}, [](std::error_code, std::size_t) {});
  member.async_send_reliably("nobody", "from inside", [](std::error_code) {});
  member.async_forget("nobody", [](std::error_code) {});

  member.wait_for(1, 1s, waiting);
  member.send_reliably("nobody", "from inside", error);
  CHECK(error == errc::unknown_member);
  member.forget("nobody", error);
  CHECK(error == (waiting ? waiting : errc::unknown_member));
  member.join({}, error);
  CHECK((waiting ? error == waiting : (!error || error == errc::busy)));
  member.leave(error);
  CHECK(error == waiting);
}

}  // namespace

/// The places where an object on threads of its own calls the application.
enum class place { in_event, in_message, in_check, in_completion };

/// Runs `act` once at that place of `member`, which `peer` helps to reach. The member has threads
/// of its own unless it is given a context.
struct caller {
  explicit caller(place where, std::function<void(cluster&)> act,
                  asio::io_context* context = nullptr) {
    auto once = [this, act = std::move(act), called = std::make_shared<bool>(false)] {
      if (std::exchange(*called, true)) return;
      act(*member);
      done.set_value();
    };
    auto options = member_options("a");
    options.health.interval = 10ms;
    if (where == place::in_check) {
      options.health.check = [once] {
        once();
        return true;
      };
    }
    member = context != nullptr ? std::make_unique<cluster>(*context, options)
                                : std::make_unique<cluster>(options);
    if (where == place::in_event) member->on_event([once](const event&) { once(); });
    if (where == place::in_message) {
      member->on_message([once](const lifering::message&) { once(); });
    }
    member->start();
    if (where == place::in_completion) {
      member->async_join({}, [once](std::error_code, std::size_t) { once(); });
    }
    if (where == place::in_message) {
      peer.start();
      peer.async_join(seeds_of(*member), [this](std::error_code, std::size_t) {
        std::error_code error;
        peer.send("a", "now", error);
      });
    }
  }

  bool is_done() { return done.get_future().wait_for(patience) == std::future_status::ready; }

  std::promise<void> done;
  std::unique_ptr<cluster> member;
  cluster peer{member_options("peer")};
};

TEST_CASE("every call works inside every callback on the library's own threads", "[callback]") {
  const auto where =
      GENERATE(place::in_event, place::in_message, place::in_check, place::in_completion);
  std::error_code waiting = errc::busy;
  caller on(where, [&](cluster& member) { call_everything(member, waiting); });
  REQUIRE(on.is_done());
  CHECK_FALSE(waiting);
}

TEST_CASE("an object may be stopped, and destroyed, inside every callback", "[callback]") {
  const auto where =
      GENERATE(place::in_event, place::in_message, place::in_check, place::in_completion);
  SECTION("stopped") {
    caller on(where, [](cluster& member) { member.stop(); });
    REQUIRE(on.is_done());
    on.member->stop();
  }
  SECTION("destroyed") {
    std::promise<caller*> made;
    caller on(where, [made = made.get_future().share()](cluster&) { made.get()->member.reset(); });
    made.set_value(&on);
    REQUIRE(on.is_done());
    CHECK_FALSE(on.member);
  }
}

TEST_CASE("on the caller's context every callback may stop or destroy the object", "[callback]") {
  const auto where =
      GENERATE(place::in_event, place::in_message, place::in_check, place::in_completion);
  const bool destroys = GENERATE(false, true);
  asio::io_context context;
  caller* made = nullptr;
  caller on(
      where,
      [&](cluster& member) {
        if (destroys) {
          made->member.reset();
        } else {
          member.stop();
        }
      },
      &context);
  made = &on;
  context.run();  // Returns as nothing is pending any more.
  REQUIRE(on.is_done());
  CHECK((on.member == nullptr) == destroys);
}

TEST_CASE("inside a handler on the caller's thread waiting calls are refused, the others work",
          "[callback]") {
  asio::io_context context;
  cluster member(context, member_options("a"));
  std::error_code waiting;
  bool first = true;
  member.on_event([&](const event&) {
    if (std::exchange(first, false)) call_everything(member, waiting);
  });
  member.start();
  while (first)
    context.run_one();
  CHECK(waiting == errc::would_deadlock);
  member.async_leave([&](std::error_code, std::size_t) { member.stop(); });
  context.run();
}

TEST_CASE("an object may be stopped inside its own handler", "[callback]") {
  SECTION("on its own threads") {
    cluster member(member_options("a"));
    std::promise<void> stopped;
    member.on_event([&](const event&) {
      member.stop();
      stopped.set_value();
    });
    member.start();
    REQUIRE(stopped.get_future().wait_for(patience) == std::future_status::ready);
    member.stop();
  }
  SECTION("on the caller's") {
    asio::io_context context;
    cluster member(context, member_options("a"));
    member.on_event([&](const event&) { member.stop(); });
    member.start();
    context.run();  // Returns as nothing is pending any more.
    std::error_code error;
    member.leave(error);
    CHECK(error == errc::stopped);
  }
}

TEST_CASE("an object may be destroyed inside its own handler", "[callback]") {
  SECTION("on its own threads, also before start() has returned") {
    for (int i = 0; i < 50; ++i) {
      auto member = std::make_unique<cluster>(member_options("a"));
      std::promise<void> gone;
      member->on_event([&](const event&) {
        member.reset();
        gone.set_value();
      });
      member->start();
      REQUIRE(gone.get_future().wait_for(patience) == std::future_status::ready);
    }
  }
  SECTION("on the caller's") {
    asio::io_context context;
    auto member = std::make_unique<cluster>(context, member_options("a"));
    member->on_event([&](const event&) { member.reset(); });
    member->start();
    context.run();
    CHECK_FALSE(member);
  }
  SECTION("in a completion on its own threads") {
    auto member = std::make_unique<cluster>(member_options("a"));
    std::promise<void> gone;
    member->start();
    member->async_leave([&](std::error_code, std::size_t) {
      member.reset();
      gone.set_value();
    });
    REQUIRE(gone.get_future().wait_for(patience) == std::future_status::ready);
  }
}

TEST_CASE("a handler that throws is counted and the next event comes", "[callback]") {
  cluster first(member_options("a"));
  std::promise<void> joined;
  first.on_event([&](const event& value) {
    const auto* change = std::get_if<member_event>(&value);
    if (change != nullptr && change->kind == event_kind::joined) joined.set_value();
    throw 42;
  });
  first.start();
  cluster second(member_options("b"));
  second.start();
  second.join(seeds_of(first));
  REQUIRE(joined.get_future().wait_for(patience) == std::future_status::ready);
  CHECK(eventually([&] { return stat(first, "callbacks_thrown") >= 2; }));
}

TEST_CASE("a completion that throws on the library's thread is counted", "[callback]") {
  cluster member(member_options("a"));
  member.start();
  member.async_join({}, [](std::error_code, std::size_t) { throw std::runtime_error("here"); });
  CHECK(eventually([&] { return stat(member, "callbacks_thrown") == 1; }));
}

TEST_CASE("a handler that is stuck holds up neither the membership nor the lookups", "[callback]") {
  std::latch release(1);
  auto options = member_options("a");
  options.limits.event_queue = 16;
  options.ring_gather = 0ms;
  event_memory seen;
  cluster first(options);
  std::uint64_t last_number = 0;
  std::uint64_t merged = 0;
  first.on_event([&](const event& value) {
    release.wait();
    seen.add(value);
    if (const auto* change = std::get_if<member_event>(&value)) {
      CHECK(change->number == last_number + 1);
      merged += change->merged;
      last_number = change->number;
    } else {
      last_number = std::get<lifering::ring_event>(value).number;
    }
  });
  first.start();
  cluster second(member_options("b"));
  second.start();
  for (int i = 0; i < 12; ++i) {
    second.join(seeds_of(first));
    REQUIRE(first.wait_for(2, patience));
    second.leave();
    REQUIRE(eventually([&] { return first.members().size() == 1; }));
  }
  second.join(seeds_of(first));
  REQUIRE(first.wait_for(2, patience));
  CHECK(first.owner("key").has_value());
  release.count_down();
  CHECK(seen.has(event_kind::joined, "b"));
  CHECK(eventually([&] { return stat(first, "events_queued") == 0; }));
  CHECK(stat(first, "events_merged") > 0);
}

TEST_CASE("while handlers are stuck the member probes, answers and takes what is sent to it",
          "[callback]") {
  std::latch release(1);
  event_memory seen;
  cluster first(member_options("a"));
  first.on_event([&](const event&) { release.wait(); });
  first.on_message([&](const lifering::message&) { release.wait(); });
  first.start();
  cluster second(member_options("b"));
  seen.attach(second);
  second.start();
  second.join(seeds_of(first));
  REQUIRE(first.wait_for(2, patience));
  REQUIRE(eventually([&] { return stat(first, "events_queued") > 0; }));
  // Much longer than it takes to find a silent member failed.
  const auto ours = stat(first, "probes");
  const auto theirs = stat(second, "probes");
  REQUIRE(eventually(
      [&] { return stat(first, "probes") > ours + 40 && stat(second, "probes") > theirs + 40; }));
  // Acknowledged when it is queued.
  std::error_code error;
  second.send_reliably("a", "hello", error);
  CHECK_FALSE(error);
  CHECK(first.members().size() == 2);
  const auto all = seen.all();
  CHECK(std::none_of(all.begin(), all.end(), [](const event& each) {
    const auto* change = std::get_if<member_event>(&each);
    return change != nullptr && change->kind == event_kind::failed;
  }));
  release.count_down();
  CHECK(eventually([&] { return stat(first, "messages_delivered") == 1; }));
}

TEST_CASE("no handler runs after the destructor, which waits for the one under way", "[callback]") {
  asio::thread_pool pool(2);
  std::atomic<bool> inside{false};
  std::atomic<bool> destroyed{false};
  std::atomic<bool> too_late{false};
  {
    cluster member(pool.get_executor(), member_options("a"));
    member.on_event([&](const event&) {
      inside = true;
      std::this_thread::sleep_for(50ms);
      if (destroyed) too_late = true;
    });
    member.start();
    REQUIRE(eventually([&] { return inside.load(); }));
  }
  destroyed = true;
  pool.join();
  CHECK_FALSE(too_late);
}

TEST_CASE("on a context that somebody runs, waiting calls work from other threads", "[callback]") {
  running_context on;
  cluster first(on.context, member_options("a"));
  first.start();
  cluster second(on.context, member_options("b"));
  second.start();
  CHECK(second.join(seeds_of(first)) == 1);
  CHECK(first.wait_for(2, patience));
  CHECK(second.leave() == 1);
  second.stop();
  first.stop();
}

TEST_CASE("a context that nobody runs any more holds up neither stop nor the destructor",
          "[callback]") {
  SECTION("it was stopped") {
    asio::io_context context;
    cluster member(context, member_options("a"));
    member.start();
    context.run_one();
    context.stop();
    member.stop();
  }
  SECTION("it never ran") {
    asio::io_context context;
    cluster member(context, member_options("a"));
    member.start();
  }
  SECTION("it never ran, and stop waits for two seconds in vain") {
    asio::io_context context;
    cluster member(context, member_options("a"));
    member.start();
    std::error_code error;
    member.stop();
    member.leave(error);
    CHECK(error == errc::stopped);
    context.run();  // Ends, since nothing is left to do.
    member.stop();
  }
  SECTION("it ends before what was destroyed on it") {
    auto context = std::make_unique<asio::io_context>();
    auto member = std::make_unique<cluster>(*context, member_options("a"));
    member->start();
    for (int i = 0; i < 3; ++i)
      context->run_one();
    std::error_code result;
    member->async_join({"127.0.0.1:1"},
                       [&](std::error_code error, std::size_t) { result = error; });
    context->poll();
    member.reset();
    context.reset();
  }
}
