// Counts the heap allocations on a datagram's way: in, through the machine, and its answer out.
#include <array>
#include <asio/ip/udp.hpp>
#include <atomic>
#include <cstdlib>
#include <new>

#include "net/address.hpp"
#include "net/peer.hpp"
#include "support/catch.hpp"
#include "wire/codec.hpp"

namespace {

std::atomic<std::size_t> allocations{0};

void* counted(std::size_t size) {
  ++allocations;
  if (void* const made = std::malloc(size == 0 ? 1 : size)) return made;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new[](std::size_t size) {
  return counted(size);
}
void operator delete(void* pointer) noexcept {
  std::free(pointer);
}
void operator delete[](void* pointer) noexcept {
  std::free(pointer);
}
void operator delete(void* pointer, std::size_t) noexcept {
  std::free(pointer);
}
void operator delete[](void* pointer, std::size_t) noexcept {
  std::free(pointer);
}

namespace lifering::net {
namespace {

using test::peer;
using test::quick_options;

/// Sends pings as if it were the member `as`, many at once.
class pinger {
 public:
  pinger(asio::io_context& context, peer& to, peer& as)
      : context_(context), to_(to), socket_(context, asio::ip::udp::v4()) {
    swim::packet packet;
    const auto& speaker = *as.driver().protocol().self();
    const auto& target = *to.driver().protocol().self();
    packet.from.name = speaker.name;
    packet.from.epoch = speaker.epoch;
    packet.from.incarnation = speaker.incarnation;
    packet.from.view_digest = as.driver().protocol().view_digest();
    packet.from.known_members = 2;
    packet.body = swim::ping{1, target.name, target.epoch};
    wire::codec("test").encode(packet, bytes_);
  }

  /// The allocations of the other side while it takes so many pings and answers them.
  std::size_t cost_of(std::size_t pings) {
    const auto& count = to_.driver().count();
    const auto received = count.datagrams_received;
    const auto sent = count.datagrams_sent;
    const auto to = to_asio<asio::ip::udp>(to_.driver().local_address(), false);
    for (std::size_t i = 0; i < pings; ++i)
      socket_.send_to(asio::buffer(bytes_), to);
    const auto before = allocations.load();
    test::run_until(context_, [&] { return count.datagrams_received >= received + pings; });
    const auto cost = allocations.load() - before;
    CHECK(count.datagrams_sent >= sent + pings);
    // What was answered is of no interest, but must not fill the socket.
    std::array<std::uint8_t, 1500> answer;
    for (std::size_t i = 0; i < pings; ++i)
      socket_.receive(asio::buffer(answer));
    return cost;
  }

 private:
  asio::io_context& context_;
  peer& to_;
  asio::ip::udp::socket socket_;
  std::vector<std::uint8_t> bytes_;
};

TEST_CASE("What a turn allocates doesn't grow with the datagrams that it takes and sends") {
  asio::io_context context;
  const auto make = [&](const std::string& name) {
    auto options = quick_options(name, "127.0.0.1:0");
    options.protocol.timing.probe_interval = std::chrono::minutes(1);
    options.protocol.timing.push_pull_interval = std::chrono::hours(1);
    auto made = std::make_unique<peer>(context, std::move(options));
    REQUIRE_FALSE(made->driver().open());
    made->driver().start();
    return made;
  };
  const auto one = make("one" + std::string(40, 'n'));
  const auto other = make("other" + std::string(40, 'n'));
  REQUIRE(one->completion(one->join({other->address()})));
  pinger pings(context, *one, *other);

  constexpr std::size_t many = 48;  // Fewer than are taken in one turn.
  constexpr int tries = 50;         // Timers may come between; some try has none.
  std::size_t cost_of_one = pings.cost_of(1);
  std::size_t cost_of_many = pings.cost_of(many);
  for (int i = 0; i < tries; ++i) {
    cost_of_one = std::min(cost_of_one, pings.cost_of(1));
    cost_of_many = std::min(cost_of_many, pings.cost_of(many));
  }
  // Asio's any_io_executor, on which the caller's executor comes, takes two for each turn.
  CHECK(cost_of_one <= 2);
  CHECK(cost_of_many <= 2);
}

}  // namespace
}  // namespace lifering::net
