#include "net/udp_socket.hpp"

#include <array>
#include <string>
#include <vector>

#include "net/listening.hpp"
#include "net/loop.hpp"
#include "support/catch.hpp"

namespace lifering::net {
namespace {

using test::run_until;

struct arrival {
  endpoint from;
  std::string text;
};

/// A UDP socket that writes down what it is told.
class listener final : public datagram_handler {
 public:
  listener(asio::io_context& context, const std::string& bind, std::size_t datagram_max = 1400)
      : context_(context), pending_(asio::make_strand(context)) {
    std::optional<listening_sockets> sockets;
    const auto found = open_listening(asio::make_strand(context), *endpoint::parse(bind), sockets);
    INFO((found ? found->text : std::string()));
    REQUIRE_FALSE(found);
    address = sockets->local;
    socket.emplace(std::move(sockets->udp), datagram_max, pending_, *this, count);
    socket->start();
  }

  ~listener() {
    socket->close();
    run_until(context_, [this] { return pending_.count() == 0; });
  }

  void send(const endpoint& to, std::string_view text) {
    socket->queue(to, [text](std::vector<std::uint8_t>& out) {
      out.insert(out.end(), text.begin(), text.end());
    });
  }

  bool has_heard(std::size_t arrived) {
    return run_until(context_, [&] { return arrivals.size() >= arrived; });
  }

  void datagram_received(const endpoint& from, std::span<const std::uint8_t> bytes) override {
    arrivals.push_back({from, std::string(bytes.begin(), bytes.end())});
  }
  void datagram_refused(const endpoint& peer) override { refused.push_back(peer); }
  void datagram_failed(const endpoint& to, std::error_code error) override {
    failed.emplace_back(to, error);
  }
  void batch_ended() override { ++batches; }

  counters count;
  endpoint address;
  std::optional<udp_socket> socket;
  std::vector<arrival> arrivals;
  std::vector<endpoint> refused;
  std::vector<std::pair<endpoint, std::error_code>> failed;
  int batches = 0;

 private:
  asio::io_context& context_;
  operations pending_;
};

TEST_CASE("A datagram arrives with its sender's address") {
  asio::io_context context;
  listener one(context, "127.0.0.1:0");
  listener other(context, "127.0.0.1:0");
  one.send(other.address, "hello");
  one.socket->flush();
  REQUIRE(other.has_heard(1));
  CHECK(other.arrivals[0].from == one.address);
  CHECK(other.arrivals[0].text == "hello");
  CHECK(one.count.datagrams_sent == 1);
  CHECK(one.count.bytes_sent == 5);
  CHECK(other.count.datagrams_received == 1);
  CHECK(other.count.bytes_received == 5);
}

TEST_CASE("Nothing is sent before the batch is flushed, and then all of it in order") {
  asio::io_context context;
  listener one(context, "127.0.0.1:0");
  listener other(context, "127.0.0.1:0");
  constexpr std::size_t many = 100;  // More than one system call takes.
  for (std::size_t i = 0; i < many; ++i)
    one.send(other.address, std::to_string(i));
  CHECK(one.count.datagrams_sent == 0);
  one.socket->flush();
  CHECK(one.count.datagrams_sent == many);
  REQUIRE(other.has_heard(many));
  for (std::size_t i = 0; i < many; ++i)
    CHECK(other.arrivals[i].text == std::to_string(i));
}

TEST_CASE("An empty datagram is a datagram") {
  asio::io_context context;
  listener one(context, "127.0.0.1:0");
  listener other(context, "127.0.0.1:0");
  one.send(other.address, "");
  one.socket->flush();
  REQUIRE(other.has_heard(1));
  CHECK(other.arrivals[0].text.empty());
}

TEST_CASE("A datagram over the limit is dropped and counted, one at the limit is not") {
  asio::io_context context;
  listener one(context, "127.0.0.1:0");
  listener other(context, "127.0.0.1:0", 1000);
  one.send(other.address, std::string(1001, 'x'));
  one.send(other.address, std::string(1000, 'y'));
  one.socket->flush();
  REQUIRE(other.has_heard(1));
  CHECK(other.arrivals[0].text == std::string(1000, 'y'));
  CHECK(other.count.dropped_too_large == 1);
}

TEST_CASE("Datagrams of all sizes arrive whole, many at once") {
  asio::io_context context;
  listener one(context, "127.0.0.1:0");
  listener other(context, "127.0.0.1:0", 30'000);
  // What is beyond a usual path's limit is received in two pieces.
  constexpr std::array<std::size_t, 8> sizes{1, 1400, 1535, 1536, 1537, 9000, 1600, 20'000};
  const auto text = [](std::size_t size) {
    std::string made(size, ' ');
    for (std::size_t i = 0; i < size; ++i)
      made[i] = static_cast<char>('a' + (i * 7 + size) % 26);
    return made;
  };
  for (const auto size : sizes)
    one.send(other.address, text(size));
  one.socket->flush();
  REQUIRE(other.has_heard(sizes.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    CHECK(other.arrivals[i].text == text(sizes[i]));
  CHECK(other.count.dropped_too_large == 0);
}

TEST_CASE("An IPv4 peer of a dual-stack socket has its IPv4 address") {
  asio::io_context context;
  listener both(context, "[::]:0");
  listener v4(context, "127.0.0.1:0");
  listener v6(context, "[::1]:0");
  v4.send(endpoint::v4({127, 0, 0, 1}, both.address.port), "four");
  v4.socket->flush();
  REQUIRE(both.has_heard(1));
  CHECK(both.arrivals[0].from == v4.address);
  CHECK(both.arrivals[0].from.to_string() == v4.address.to_string());

  both.send(v4.address, "to four");
  both.send(v6.address, "to six");
  both.socket->flush();
  REQUIRE(v4.has_heard(1));
  REQUIRE(v6.has_heard(1));
  CHECK(v4.arrivals[0].from == endpoint::v4({127, 0, 0, 1}, both.address.port));
  CHECK(v6.arrivals[0].text == "to six");
}

TEST_CASE("What can't be sent is counted, told if our host is to blame, and stops nothing else") {
  asio::io_context context;
  listener one(context, "127.0.0.1:0");
  listener other(context, "127.0.0.1:0");
  const auto forbidden = *endpoint::parse("255.255.255.255:9");
  one.send(other.address, "first");
  one.send(*endpoint::parse("[::1]:9"), "an IPv4 socket has no way there");
  one.send(forbidden, "needs SO_BROADCAST");
  one.send(other.address, std::string(65508, 'x'));  // One more than IPv4 can carry.
  one.send(other.address, "last");
  one.socket->flush();
  REQUIRE(other.has_heard(2));
  CHECK(other.arrivals[0].text == "first");
  CHECK(other.arrivals[1].text == "last");
  CHECK(one.count.send_errors == 3);
  REQUIRE(one.failed.size() == 1);
  CHECK(one.failed[0].first == forbidden);
  CHECK(one.failed[0].second == std::errc::permission_denied);
  CHECK(one.refused.empty());
}

TEST_CASE("Closing ends every operation") {
  asio::io_context context;
  listener one(context, "127.0.0.1:0");
  one.send(one.address, "never sent");
  one.socket->close();
  context.restart();
  context.run();  // Returns, since nothing is pending.
  CHECK(one.arrivals.empty());
}

TEST_CASE("The buffers that the system granted are known") {
  asio::io_context context;
  listener one(context, "127.0.0.1:0");
  CHECK(one.socket->receive_buffer() > 0);
  CHECK(one.socket->send_buffer() > 0);
}

#ifdef LIFERING_TEST_REPORTS

/// An address where nobody listens, for as long as nobody else takes the port.
endpoint closed_port(asio::io_context& context, const std::string& host) {
  const listener gone(context, host);
  return gone.address;
}

TEST_CASE("A refused port is told as that peer's, whoever else was sent to") {
  asio::io_context context;
  const auto [host, bind] =
      GENERATE(table<std::string, std::string>({{"127.0.0.1:0", "127.0.0.1:0"},
                                                {"[::1]:0", "[::1]:0"},
                                                {"127.0.0.1:0", "[::]:0"},
                                                {"[::1]:0", "[::]:0"}}));
  const auto dead = closed_port(context, host);
  listener live(context, host);
  listener one(context, bind);
  one.send(dead, "nobody");
  one.send(live.address, "somebody");
  one.socket->flush();
  REQUIRE(live.has_heard(1));
  REQUIRE(run_until(context, [&] { return !one.refused.empty(); }));
  CHECK(one.refused == std::vector{dead});
  CHECK(one.failed.empty());
  CHECK(one.count.refused == 1);
  CHECK(one.count.datagrams_sent == 2);
}

TEST_CASE("No refusal takes a datagram from another peer, however many come") {
  asio::io_context context;
  const auto dead = closed_port(context, "127.0.0.1:0");
  listener live(context, "127.0.0.1:0");
  listener one(context, "127.0.0.1:0");
  constexpr std::size_t rounds = 200;
  for (std::size_t i = 0; i < rounds; ++i) {
    one.send(dead, "nobody");
    one.send(live.address, std::to_string(i));
    one.send(dead, "nobody");
    one.socket->flush();
    live.send(one.address, "back");
    live.socket->flush();
    REQUIRE(live.has_heard(i + 1));
    REQUIRE(one.has_heard(i + 1));
  }
  CHECK(one.failed.empty());
  for (std::size_t i = 0; i < rounds; ++i)
    CHECK(live.arrivals[i].text == std::to_string(i));
  CHECK(one.count.refused > 0);
  for (const auto& peer : one.refused)
    CHECK(peer == dead);
}

TEST_CASE("Datagrams that the system can't take yet follow when it can, up to a bound") {
  asio::io_context context;
  listener one(context, "127.0.0.1:0");
  std::optional<listener> other(std::in_place, context, "127.0.0.1:0", 65507);
  // Far more than any socket buffer: on loopback the receiver's losses don't block the sender, so
  // what is tested here is that nothing is lost on our side without being counted.
  const std::string large(60000, 'x');
  constexpr std::size_t many = 100;
  for (std::size_t i = 0; i < many; ++i)
    one.send(other->address, large);
  one.socket->flush();
  REQUIRE(
      run_until(context, [&] { return one.count.datagrams_sent + one.count.send_errors == many; }));
  CHECK(one.failed.size() == one.count.send_errors);
  // 4 MiB of 60,000 bytes is 69 datagrams.
  CHECK(one.count.datagrams_sent == udp_socket::backlog_max / large.size());
  for (const auto& [to, error] : one.failed)
    CHECK(error == std::errc::no_buffer_space);
}

#endif

}  // namespace
}  // namespace lifering::net
