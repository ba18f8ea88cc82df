// A cluster over a transport of the application: no socket, the same promises.
#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <filesystem>
#include <lifering/keyring.hpp>
#include <thread>

#include "cluster/inhabitant.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using lifering::errc;
using lifering::event_kind;

namespace {

bool heard(inhabitant& by, const std::string& payload) {
  return eventually([&] { return by.times_heard(payload) > 0; });
}

std::size_t open_sockets() {
  std::size_t found = 0;
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const auto target = std::filesystem::read_symlink(each.path(), ignored);
    found += target.string().starts_with("socket:") ? 1U : 0U;
  }
  return found;
}

}  // namespace

TEST_CASE("members find, hear and miss each other over a transport without a socket",
          "[transport]") {
  const bool is_sealed = GENERATE(false, true);
  const auto keys = is_sealed ? one_key() : nullptr;
  const auto sockets_before = open_sockets();
  const auto network = std::make_shared<memory_network>();
  inhabitant one(network, 1, keys);
  inhabitant two(network, 2, keys);
  inhabitant three(network, 3, keys);
  inhabitant four(network, 4, keys);
  for (auto* each : {&two, &three, &four})
    REQUIRE(each->member->join({place(1).to_string()}) == 1);
  for (auto* each : {&one, &two, &three, &four})
    REQUIRE(each->member->wait_for(4, patience));
  CHECK(open_sockets() == sockets_before);
  CHECK(one.member->local_address() == place(1));
  CHECK(one.member->find("member-3")->address == place(3));
  CHECK(eventually(
      [&] { return one.member->ring().fingerprint() == four.member->ring().fingerprint(); }));

  // Streams, in both directions and larger than the transport keeps.
  const std::string large(300'000, 'm');
  two.member->send_reliably("member-4", large);
  CHECK(heard(four, large));
  one.member->send("member-2", "direct");
  CHECK(heard(two, "direct"));
  three.member->broadcast("news");
  CHECK(heard(one, "news"));

  // What doesn't fit into gossip is pulled.
  const std::string metadata(16'384, 'd');
  four.member->set_metadata(metadata);
  CHECK(eventually([&] { return one.member->find("member-4")->metadata == metadata; }));
  CHECK(eventually([&] { return two.member->find("member-4")->metadata == metadata; }));

  // A crash, which the transport tells of; and a silence, of which nobody tells.
  three.member.reset();
  CHECK(one.events.has(event_kind::failed, "member-3"));
  CHECK(stat(*one.member, "refused") + stat(*two.member, "refused") +
            stat(*four.member, "refused") >
        0);
  network->cut(place(4));
  CHECK(one.events.has(event_kind::failed, "member-4"));
  CHECK(two.events.has(event_kind::failed, "member-4"));

  CHECK(two.member->leave() == 1);
  CHECK(one.events.has(event_kind::left, "member-2"));
  CHECK(one.member->members().size() == 1);
}

TEST_CASE("deadlines of streams hold whatever a transport does", "[transport]") {
  const auto network = std::make_shared<memory_network>();
  auto options = inhabitant::options_of(network, 1);
  options.protocol.stream_timeout = 300ms;
  options.limits.streams_per_source = 16;
  inhabitant one(std::move(options));
  inhabitant two(network, 2);
  REQUIRE(two.member->join({place(1).to_string()}) == 1);

  SECTION("a connection that never comes") {
    REQUIRE(one.member->wait_for(2, patience));
    network->cut(place(2));
    std::error_code error;
    one.member->send_reliably("member-2", "lost", error);
    CHECK((error == errc::timed_out || error == errc::unknown_member));
  }
  SECTION("a stream that says nothing loses its place") {
    const auto silent = network->open_stream(place(9), place(1));
    REQUIRE(silent);
    REQUIRE(eventually([&] { return stat(*one.member, "streams_accepted") >= 2; }));
    CHECK(eventually([&] { return stat(*one.member, "streams_open") == 0; }));
    CHECK(stat(*one.member, "streams_failed") >= 1);
  }
  SECTION("one source takes no more places than are its own") {
    std::vector<std::shared_ptr<lifering::transport_stream>> held;
    for (int i = 0; i < 100; ++i)
      held.push_back(network->open_stream(place(9), place(1)));
    CHECK(eventually([&] { return stat(*one.member, "streams_refused_source") == 84; }));
  }
}

TEST_CASE("what strangers send over a transport is judged as over sockets", "[transport]") {
  const auto network = std::make_shared<memory_network>();
  auto options = inhabitant::options_of(network, 1);
  options.allow = {"10.0.0.0/24"};
  options.limits.datagram = 1400;
  inhabitant one(std::move(options));
  const std::vector<std::uint8_t> junk(1200, 0x5a);
  const auto dropped = [&](std::string_view reason) {
    for (const auto& row : one.member->stats()) {
      if (row.name == "dropped" && row.reason == reason) return row.value;
    }
    return std::uint64_t{0};
  };

  network->inject(place(9), place(1), junk);
  CHECK(eventually([&] { return dropped("not_ours") == 1; }));
  network->inject(lifering::endpoint::v4({10, 0, 1, 9}, 7946), place(1), junk);
  CHECK(eventually([&] { return dropped("not_allowed") == 1; }));
  network->inject(place(9), place(1), std::vector<std::uint8_t>(20'000));
  CHECK(eventually([&] { return dropped("too_large") == 1; }));

  // Faster than anybody reads.
  for (int i = 0; i < 20'000; ++i)
    network->inject(place(9), place(1), junk);
  CHECK(eventually([&] { return dropped("not_ours") + dropped("no_room") == 20'001; }));
}

TEST_CASE("a transport that can't open says why, and the start may be tried again", "[transport]") {
  const auto network = std::make_shared<memory_network>();
  auto first = inhabitant::options_of(network, 1);
  auto second = inhabitant::options_of(network, 1);
  std::optional<lifering::cluster> one(std::in_place, std::move(first));
  lifering::cluster two(std::move(second));
  one->start();
  const auto found = two.try_start();
  REQUIRE(found);
  CHECK(found->code == errc::address_in_use);
  CHECK(found->text == "10.0.0.1:7946 is taken");
  one.reset();
  CHECK_FALSE(two.try_start());

  auto nowhere = member_options("nowhere");
  nowhere.transport = network->make_transport(lifering::endpoint{});
  const auto refused = lifering::cluster(std::move(nowhere)).try_start();
  REQUIRE(refused);
  CHECK(refused->code == errc::invalid_address);
}

TEST_CASE("members over a transport run on the application's own executor", "[transport]") {
  const auto network = std::make_shared<memory_network>();
  asio::io_context context;
  auto work = asio::make_work_guard(context);
  lifering::cluster one(context, inhabitant::options_of(network, 1));
  std::string heard;
  one.on_message([&](const lifering::message& message) { heard = message.payload; });
  one.start();
  std::thread runner([&] { context.run(); });
  std::error_code error;
  inhabitant two(network, 2);
  two.member->join({place(1).to_string()}, error);
  CHECK_FALSE(error);
  two.member->send_reliably("member-1", "hello", error);
  CHECK_FALSE(error);
  one.stop();
  work.reset();
  runner.join();
  CHECK(heard == "hello");
}
