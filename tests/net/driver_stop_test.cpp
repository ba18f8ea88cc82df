// Stopping: from any state, in the midst of anything, any number of times.
#include <asio/ip/tcp.hpp>
#include <asio/ip/udp.hpp>

#include "net/address.hpp"
#include "net/driver.hpp"
#include "net/peer.hpp"
#include "support/catch.hpp"

namespace lifering::net {
namespace {

using test::peer;
using test::quick_options;
using test::run_until;

std::shared_ptr<driver> make(asio::io_context& context, driver::batch_handler handler = {}) {
  if (!handler) handler = [](std::span<const swim::effect>) {};
  return std::make_shared<driver>(context.get_executor(), quick_options("one", "127.0.0.1:0"),
                                  std::move(handler));
}

TEST_CASE("Stopping ends in every state, and each caller is told once, from a later turn") {
  asio::io_context context;
  auto one = make(context);
  const auto reached = GENERATE(0, 1, 2);
  if (reached > 0) REQUIRE_FALSE(one->open());
  if (reached > 1) one->start();
  int told = 0;
  one->stop([&] { ++told; });
  one->stop([&] { ++told; });
  one->stop({});
  CHECK(told == 0);
  context.run();  // Returns, since nothing is pending.
  CHECK(told == 2);
  one->stop([&] { ++told; });
  context.restart();
  context.run();
  CHECK(told == 3);
}

TEST_CASE("After stopping the port is free and commands are dropped") {
  asio::io_context context;
  auto one = make(context);
  REQUIRE_FALSE(one->open());
  const auto address = one->local_address();
  one->start();
  one->stop({});
  one->command(swim::join_command{swim::command_id{1}, {"127.0.0.1:1"}, std::chrono::seconds(1)});
  context.run();
  peer next(context, "next", address.to_string());
  CHECK_FALSE(next.opened);
  CHECK(one->protocol().present_members() == 1);
}

TEST_CASE("Stopping with everything under way leaves nothing pending") {
  asio::io_context context;
  peer other(context, "other");
  // A seed that takes the connection and says nothing.
  asio::ip::tcp::acceptor mute(context,
                               to_asio<asio::ip::tcp>(*endpoint::parse("127.0.0.1:0"), false));
  const auto muted = from_asio(mute.local_endpoint()).to_string();

  int batches = 0;
  auto one = make(context, [&](std::span<const swim::effect>) { ++batches; });
  REQUIRE_FALSE(one->open());
  one->start();
  one->command(swim::join_command{swim::command_id{1},
                                  {other.address(), muted, "name.invalid", "localhost"},
                                  std::chrono::seconds(10)});
  asio::ip::tcp::socket caller(context);
  caller.connect(to_asio<asio::ip::tcp>(one->local_address(), false));
  REQUIRE(run_until(context, [&] { return one->count().streams_accepted == 1; }));
  bool is_done = false;
  one->stop([&] { is_done = true; });
  const auto before = batches;
  CHECK(run_until(context, [&] { return is_done; }));
  CHECK(batches == before);

  // Nothing but the test holds it any more.
  const std::weak_ptr<driver> watched = one;
  one.reset();
  CHECK(watched.expired());
}

TEST_CASE("The batch handler may give commands, whose turn comes later, and may stop") {
  asio::io_context context;
  peer other(context, "other");
  std::shared_ptr<driver> one;
  bool is_inside = false;
  bool is_done = false;
  std::vector<swim::command_id> completed;
  one = make(context, [&](std::span<const swim::effect> list) {
    REQUIRE_FALSE(is_inside);
    is_inside = true;
    for (const auto& each : list) {
      const auto* done = std::get_if<swim::completed>(&each);
      if (done == nullptr) continue;
      completed.push_back(done->command);
      if (completed.size() == 1) {
        swim::update_command update;
        update.id = swim::command_id{2};
        update.metadata = "from inside";
        one->command(update);
      } else {
        one->stop([&] { is_done = true; });
      }
    }
    is_inside = false;
  });
  REQUIRE_FALSE(one->open());
  one->start();
  one->command(
      swim::join_command{swim::command_id{1}, {other.address()}, std::chrono::seconds(10)});
  CHECK(run_until(context, [&] { return is_done; }));
  CHECK(completed == std::vector{swim::command_id{1}, swim::command_id{2}});
  CHECK(one->protocol().self()->metadata == "from inside");
}

TEST_CASE("A newer life of a name stops the older one") {
  asio::io_context context;
  peer seed(context, "seed");
  auto old_life = std::make_unique<peer>(context, "one");
  REQUIRE(old_life->completion(old_life->join({seed.address()})));
  peer new_life(context, "one");
  REQUIRE(new_life.completion(new_life.join({seed.address()})));
  CHECK(old_life->hears(event_kind::superseded, "one"));
  const auto address = old_life->driver().local_address();
  // Stopped by itself: its port is free.
  peer next(context, "next", address.to_string());
  CHECK_FALSE(next.opened);
}

TEST_CASE("An io_context that goes away takes running members with it") {
  auto context = std::make_unique<asio::io_context>();
  auto one = make(*context);
  auto other = make(*context);
  for (const auto& each : {one, other}) {
    REQUIRE_FALSE(each->open());
    each->start();
  }
  one->command(swim::join_command{swim::command_id{1},
                                  {other->local_address().to_string(), "localhost"},
                                  std::chrono::seconds(10)});
  REQUIRE(run_until(*context, [&] { return one->count().streams_opened == 1; }));
  const std::weak_ptr<driver> watched = one;
  one.reset();
  other.reset();
  CHECK_FALSE(watched.expired());  // What is under way keeps it.
  context.reset();
  CHECK(watched.expired());
}

}  // namespace
}  // namespace lifering::net
