#include <signal.h>

#include <array>
#include <asio/buffer.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <lifering/error.hpp>
#include <string>
#include <vector>

#include "net/address.hpp"
#include "net/stream_node.hpp"

namespace lifering::net {
namespace {

using namespace std::chrono_literals;
using node = test::stream_node;
using swim::stream_id;
using test::frame_of;
using test::run_until;

constexpr stream_id first{1};

TEST_CASE("Frames queued before a stream is connected arrive in order, answers too") {
  asio::io_context context;
  node client(context);
  node server(context);
  client.streams->open(first, server.address, 20s);
  client.send(first, "one");
  client.send(first, "two");
  REQUIRE(run_until(context, [&] { return server.frames.size() == 2; }));
  CHECK(server.frames == std::vector<std::string>{"one", "two"});
  CHECK(client.opened == std::vector{first});
  REQUIRE(server.accepted.size() == 1);
  CHECK(swim::is_accepted(server.accepted[0]));
  server.send(server.accepted[0], "three");
  REQUIRE(run_until(context, [&] { return client.frames.size() == 1; }));
  CHECK(client.frames[0] == "three");
}

TEST_CASE("A stream comes from the address that its member is bound to") {
  asio::io_context context;
  node client(context);
  node server(context);
  client.streams->open(first, server.address, 20s);
  REQUIRE(run_until(context, [&] { return server.callers.size() == 1; }));
  CHECK(server.callers[0].bytes == client.address.bytes);
}

TEST_CASE("Closing sends what is queued first, and the peer hears a clean end") {
  asio::io_context context;
  node client(context);
  node server(context);
  const std::string large(1'000'000, 'x');
  client.streams->open(first, server.address, 20s);
  client.send(first, large);
  client.send(first, "last");
  client.streams->close(first);
  REQUIRE(run_until(context, [&] { return server.ended.size() == 1; }));
  CHECK(server.frames == std::vector<std::string>{large, "last"});
  CHECK_FALSE(server.ended[0].second);
  REQUIRE(run_until(context, [&] { return client.streams->size() == 0; }));
  CHECK(server.streams->size() == 0);
  CHECK(client.ended.empty());
  CHECK(client.opened.empty());
}

TEST_CASE("What a closed stream still receives is read into nothing") {
  asio::io_context context;
  node client(context);
  node server(context);
  client.streams->open(first, server.address, 20s);
  REQUIRE(run_until(context, [&] { return server.accepted.size() == 1; }));
  client.send(first, "bye");
  client.streams->close(first);
  // On the way when the other side closed: had the socket been closed over it, the connection would
  // have been reset, and "bye" with it.
  server.send(server.accepted[0], std::string(1'000'000, 'y'));
  REQUIRE(run_until(context, [&] { return server.ended.size() == 1; }));
  CHECK(server.frames == std::vector<std::string>{"bye"});
  CHECK_FALSE(server.ended[0].second);
  CHECK(client.frames.empty());
}

TEST_CASE("A handler may close or drop the stream whose frame it is given") {
  asio::io_context context;
  node client(context);
  node server(context);
  client.streams->open(first, server.address, 20s);
  client.send(first, "one");
  client.send(first, "two");
  SECTION("close") {
    server.on_frame = [&] { server.streams->close(server.accepted[0]); };
  }
  SECTION("drop") {
    server.on_frame = [&] { server.streams->drop(server.accepted[0]); };
  }
  SECTION("stop") {
    server.on_frame = [&] { server.stop(); };
  }
  REQUIRE(run_until(context, [&] { return client.ended.size() == 1; }));
  CHECK(server.frames == std::vector<std::string>{"one"});
  CHECK(server.ended.empty());
}

TEST_CASE("A peer that is gone while we write raises no signal") {
  // Caught, SIGPIPE comes where it would end the process by default; ignored, it never comes.
  static volatile sig_atomic_t raised = 0;
  struct sigaction before {};
  struct sigaction caught {};
  caught.sa_handler = [](int) { raised = 1; };
  REQUIRE(::sigaction(SIGPIPE, &caught, &before) == 0);
  asio::io_context context;
  node client(context);
  asio::ip::tcp::acceptor listens(context, {asio::ip::address_v4::loopback(), 0});
  client.streams->open(first, from_asio(listens.local_endpoint()), 20s);
  auto server = listens.accept();
  REQUIRE(run_until(context, [&] { return client.opened.size() == 1; }));
  SECTION("the first frame brings the reset that the second meets") {
    server.close();
    client.send(first, "one");
    client.send(first, "two");
  }
  SECTION("in the midst of a frame") {
    for (int i = 0; i < 10; ++i)
      client.send(first, std::string(1'000'000, 'x'));
    std::array<char, 1000> some{};
    asio::read(server, asio::buffer(some));
    server.close();
  }
  CHECK(run_until(context, [&] { return client.ended.size() == 1; }));
  CHECK(::sigaction(SIGPIPE, &before, nullptr) == 0);
  CHECK(raised == 0);
}

TEST_CASE("A port that nobody listens on is unreachable") {
  asio::io_context context;
  node client(context);
  endpoint nobody;
  {
    node gone(context);
    nobody = gone.address;
  }
  client.streams->open(first, nobody, 20s);
  REQUIRE(run_until(context, [&] { return client.ended.size() == 1; }));
  CHECK(client.ended[0] == std::pair{first, std::error_code(errc::unreachable)});
  CHECK(client.count.streams_failed == 1);
}

TEST_CASE("An address of the other family is unreachable, told from a later turn") {
  asio::io_context context;
  node client(context);
  client.streams->open(first, *endpoint::parse("[::1]:9"), 20s);
  CHECK(client.ended.empty());
  REQUIRE(run_until(context, [&] { return client.ended.size() == 1; }));
  CHECK(client.ended[0].second == errc::unreachable);
}

TEST_CASE("An address that loopback has no way to is unreachable, not an invalid argument") {
  asio::io_context context;
  node client(context);
  client.streams->open(first, *endpoint::parse("203.0.113.1:7946"), 20s);
  REQUIRE(run_until(context, [&] { return client.ended.size() == 1; }));
  CHECK(client.ended[0] == std::pair{first, std::error_code(errc::unreachable)});
}

TEST_CASE("A peer that doesn't answer loses its stream at the deadline") {
  asio::io_context context;
  node client(context);
  node server(context);
  client.streams->open(first, server.address, 50ms);
  REQUIRE(run_until(context, [&] { return client.ended.size() == 1; }));
  CHECK(client.ended[0] == std::pair{first, std::error_code(errc::timed_out)});
}

TEST_CASE("A peer that sends a byte now and then loses its place at the same deadline") {
  asio::io_context context;
  node server(context, 16, 300ms);
  asio::ip::tcp::socket slow(context);
  slow.connect(to_asio<asio::ip::tcp>(server.address, false));
  const auto frame = frame_of(std::string(10'000, 'x'));
  asio::steady_timer tick(context);
  std::size_t sent = 0;
  std::function<void()> drip = [&] {
    tick.expires_after(5ms);
    tick.async_wait([&](std::error_code error) {
      std::error_code ignored;
      if (error || !server.ended.empty()) return;
      sent += asio::write(slow, asio::buffer(frame.data() + sent, 1), ignored);
      drip();
    });
  };
  drip();
  REQUIRE(run_until(context, [&] { return server.ended.size() == 1; }));
  CHECK(server.ended[0].second == errc::timed_out);
  CHECK(sent > 1);
  CHECK(server.streams->size() == 0);
}

TEST_CASE("A peer that never reads loses its place too, and its queue is forgotten") {
  asio::io_context context;
  node server(context, 16, 300ms);
  asio::ip::tcp::socket deaf(context);
  deaf.connect(to_asio<asio::ip::tcp>(server.address, false));
  REQUIRE(run_until(context, [&] { return server.accepted.size() == 1; }));
  // Ten times what stays in the sockets' buffers.
  for (int i = 0; i < 40; ++i)
    server.send(server.accepted[0], std::string(1'000'000, 'x'));
  server.streams->close(server.accepted[0]);
  REQUIRE(run_until(context, [&] { return server.streams->size() == 0; }));
  CHECK(server.ended.empty());
}

TEST_CASE("Streams that together queue more than the bound fail instead of taking memory") {
  asio::io_context context;
  node server(context, 16, 10min);
  asio::ip::tcp::socket deaf(context);
  deaf.connect(to_asio<asio::ip::tcp>(server.address, false));
  REQUIRE(run_until(context, [&] { return server.accepted.size() == 1; }));
  const std::string large(1'000'000, 'x');
  std::size_t sent = 0;
  for (; sent * large.size() < 2 * stream_set::queued_max && server.ended.empty(); ++sent) {
    server.send(server.accepted[0], large);
    context.restart();
    context.poll();
  }
  CHECK(sent * large.size() >= stream_set::queued_max);
  REQUIRE(server.ended.size() == 1);
  CHECK(server.ended[0].second == std::errc::no_buffer_space);
}

TEST_CASE("Bytes that can't begin a frame are refused at once") {
  asio::io_context context;
  node server(context);
  asio::ip::tcp::socket stranger(context);
  stranger.connect(to_asio<asio::ip::tcp>(server.address, false));
  asio::write(stranger, asio::buffer(std::string("GET / HTTP/1.1\r\n\r\n")));
  REQUIRE(run_until(context, [&] { return server.junk.size() == 1; }));
  CHECK(server.junk[0] == wire::decode_error::not_ours);
  CHECK(server.streams->size() == 0);
}

TEST_CASE("A stream that is cut in the midst of a frame has failed, one cut between them has not") {
  asio::io_context context;
  node server(context);
  asio::ip::tcp::socket peer(context);
  peer.connect(to_asio<asio::ip::tcp>(server.address, false));
  auto bytes = frame_of("whole");
  const auto another = frame_of("cut");
  const auto extra = GENERATE(0, 1, 12);
  bytes.insert(bytes.end(), another.begin(), another.begin() + extra);
  asio::write(peer, asio::buffer(bytes));
  peer.close();
  REQUIRE(run_until(context, [&] { return server.ended.size() == 1; }));
  CHECK(server.frames == std::vector<std::string>{"whole"});
  CHECK((server.ended[0].second == std::errc::connection_reset) == (extra != 0));
}

TEST_CASE("Stopping ends all streams, whatever they are doing, and says nothing") {
  asio::io_context context;
  node client(context);
  node server(context);
  client.streams->open(stream_id{1}, server.address, 20s);
  REQUIRE(run_until(context, [&] { return client.opened.size() == 1; }));
  client.streams->open(stream_id{2}, server.address, 20s);               // connecting
  client.streams->open(stream_id{3}, *endpoint::parse("[::1]:9"), 20s);  // about to fail
  client.send(stream_id{1}, std::string(1'000'000, 'x'));                // writing
  client.stop();
  server.stop();
  CHECK(client.streams->size() == 0);
  context.restart();
  context.run();  // Returns, since nothing is pending.
  CHECK(client.ended.empty());
}

}  // namespace
}  // namespace lifering::net
