// A member that is advertised by the name of its host, when the host gets another address.
#include <lifering/event.hpp>

#include "net/peer.hpp"
#include "support/catch.hpp"
#include "support/name_server.hpp"

namespace lifering::net {
namespace {

using test::peer;
using test::quick_options;
using test::run_until;

driver_options moving_options(const lifering_test::name_server& names) {
  auto options = quick_options("mover", "0.0.0.0:0");
  options.name_server = endpoint::parse(names.address());
  options.advertise = endpoint::parse("127.0.0.1:0");
  options.advertise_host = "mover.test";
  options.advertise_refresh = std::chrono::milliseconds(50);
  return options;
}

struct moving_cluster {
  moving_cluster() : watcher(context, "watcher") {
    names.add_v4("mover.test", "127.0.0.1");
    mover.emplace(context, moving_options(names));
    REQUIRE_FALSE(mover->driver().open());
    mover->driver().start();
    port = mover->driver().local_address().port;
    REQUIRE(mover->completion(mover->join({watcher.address()})));
    REQUIRE(run_until(context, [&] { return watcher.present() == 2; }));
  }

  std::optional<endpoint> seen() {
    swim::view_row row;
    if (!watcher.driver().protocol().find_member("mover", row)) return std::nullopt;
    return row.subject->address;
  }

  /// Waits for so many questions to the name server.
  bool asked_again(int times) {
    const auto goal = names.questions() + 2 * times;  // A and AAAA.
    return run_until(context, [&] { return names.questions() >= goal; });
  }

  asio::io_context context;
  lifering_test::name_server names;
  peer watcher;
  std::optional<peer> mover;
  std::uint16_t port = 0;
};

TEST_CASE("A host that gets another address is followed there, as the same life") {
  moving_cluster all;
  const auto epoch = all.mover->driver().protocol().self()->epoch;
  CHECK(all.seen() == endpoint::v4({127, 0, 0, 1}, all.port));
  all.names.clear();
  all.names.add_v4("mover.test", "127.0.0.2");
  const auto next = endpoint::v4({127, 0, 0, 2}, all.port);
  REQUIRE(run_until(all.context, [&] { return all.seen() == next; }));
  CHECK(all.mover->driver().advertised_address() == next);
  CHECK(all.mover->driver().protocol().self()->epoch == epoch);
  CHECK(all.watcher.heard(event_kind::updated, "mover"));

  // And is probed there, which it answers.
  const auto probes = all.watcher.driver().protocol().stats().probes;
  REQUIRE(run_until(all.context,
                    [&] { return all.watcher.driver().protocol().stats().probes > probes + 10; }));
  CHECK_FALSE(all.watcher.heard(event_kind::failed, "mover"));
  CHECK(all.watcher.present() == 2);
}

TEST_CASE("A name that isn't answered, or has further addresses, moves nobody") {
  moving_cluster all;
  all.names.clear();
  REQUIRE(all.asked_again(3));
  all.names.add_v4("mover.test", "127.0.0.1");
  all.names.add_v4("mover.test", "127.0.0.3");
  CHECK(all.asked_again(3));
  CHECK(all.seen() == endpoint::v4({127, 0, 0, 1}, all.port));
  CHECK(all.mover->driver().advertised_address() == endpoint::v4({127, 0, 0, 1}, all.port));
}

}  // namespace
}  // namespace lifering::net
