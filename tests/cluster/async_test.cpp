// The asynchronous operations with each kind of completion token.
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include "cluster/facade_support.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using lifering::cluster;
using lifering::errc;

namespace {

/// A seed that takes connections and never says a word: as silent as a packet filter, but at once.
struct silent_seed {
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor{context,
                                   asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0)};

  std::vector<std::string> text() const {
    return {"127.0.0.1:" + std::to_string(acceptor.local_endpoint().port())};
  }
};

}  // namespace

TEST_CASE("use_future waits for a join and a leave", "[async]") {
  cluster first(member_options("a"));
  first.start();
  cluster second(member_options("b"));
  second.start();
  auto joined = second.async_join(seeds_of(first), asio::use_future);
  CHECK(joined.get() == 1);
  CHECK(second.members().size() == 2);
  CHECK(second.async_leave(10s, asio::use_future).get() == 1);
}

TEST_CASE("a future carries the error as an exception", "[async]") {
  cluster member(member_options("a"));
  auto refused = member.async_join({}, asio::use_future);
  CHECK_THROWS_AS(refused.get(), std::system_error);
}

TEST_CASE("a callback may be movable only, and runs on its associated executor", "[async]") {
  asio::io_context own;
  cluster member(member_options("a"));
  member.start();
  auto token = std::make_unique<int>(7);
  bool called = false;
  member.async_join({}, asio::bind_executor(own, [&, token = std::move(token)](
                                                     std::error_code error, std::size_t seeds) {
                      CHECK_FALSE(error);
                      CHECK(seeds == 0);
                      CHECK(*token == 7);
                      CHECK(own.get_executor().running_in_this_thread());
                      called = true;
                    }));
  own.run();  // The operation counts as work of its executor.
  CHECK(called);
}

TEST_CASE("a callback without an executor runs where events are handled", "[async]") {
  asio::io_context context;
  cluster member(context, member_options("a"));
  member.start();
  bool called = false;
  member.async_join({}, [&](std::error_code error, std::size_t) {
    CHECK_FALSE(error);
    CHECK(context.get_executor().running_in_this_thread());
    called = true;
    member.stop();
  });
  CHECK_FALSE(called);  // never from within the initiating function
  context.run();
  CHECK(called);
}

TEST_CASE("what is pending when the object goes completes as canceled", "[async]") {
  silent_seed seed;
  std::error_code result;
  SECTION("on its own threads, before the destructor returns") {
    cluster member(member_options("a"));
    member.start();
    member.async_join(seed.text(), [&](std::error_code error, std::size_t) { result = error; });
  }
  SECTION("on the caller's context, in its next turns") {
    asio::io_context context;
    {
      cluster member(context, member_options("a"));
      member.start();
      member.async_join(seed.text(), [&](std::error_code error, std::size_t) { result = error; });
      context.poll();
    }
    context.run();
  }
  CHECK(result == errc::canceled);
}

TEST_CASE("a cancellation slot ends a join at once", "[async]") {
  silent_seed seed;
  asio::io_context own;
  cluster member(member_options("a"));
  member.start();
  asio::cancellation_signal signal;
  std::error_code result;
  member.async_join(
      seed.text(), patience,
      asio::bind_cancellation_slot(
          signal.slot(),
          asio::bind_executor(own, [&](std::error_code error, std::size_t) { result = error; })));
  const auto begin = std::chrono::steady_clock::now();
  signal.emit(asio::cancellation_type::terminal);
  own.run();
  CHECK(result == errc::canceled);
  CHECK(std::chrono::steady_clock::now() - begin < patience / 2);
  signal.emit(asio::cancellation_type::terminal);  // too late, does nothing
}

#if defined(ASIO_HAS_CO_AWAIT)
TEST_CASE("a coroutine awaits a join and a leave on the caller's context", "[async]") {
  asio::io_context context;
  cluster first(context, member_options("a"));
  cluster second(context, member_options("b"));
  first.start();
  second.start();
  std::size_t acknowledged = 0;
  asio::co_spawn(
      context,
      [&]() -> asio::awaitable<void> {
        const auto seeds = co_await second.async_join(seeds_of(first), asio::use_awaitable);
        CHECK(seeds == 1);
        CHECK(second.members().size() == 2);
        acknowledged = co_await second.async_leave(asio::use_awaitable);
        first.stop();
        second.stop();
      },
      asio::detached);
  context.run();
  CHECK(acknowledged == 1);
}
#endif
