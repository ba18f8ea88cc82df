// A transport of the application that answers twice, too late or never.
#include <lifering/transport.hpp>

#include "net/peer.hpp"
#include "support/catch.hpp"
#include "wire/codec.hpp"

namespace lifering::net {
namespace {

using test::peer;
using test::quick_options;
using test::run_until;

class fake_stream final : public transport_stream {
 public:
  void async_read_some(std::span<std::uint8_t> into, completion done) override {
    into_ = into;
    reads.push_back(std::move(done));
  }
  void async_write(std::span<const std::uint8_t> bytes, completion done) override {
    written += bytes.size();
    writes.push_back(std::move(done));
  }
  void shutdown_send() override {}
  void close() override { ++closed; }

  /// What came in as late as that goes where nobody looks any more, and harms nobody.
  void fill() { std::fill(into_.begin(), into_.end(), std::uint8_t{0xff}); }

  std::vector<completion> reads;
  std::vector<completion> writes;
  std::size_t written = 0;
  int closed = 0;

 private:
  std::span<std::uint8_t> into_;
};

/// Keeps what it is given, for the test to do with.
class fake_transport final : public transport {
 public:
  std::optional<problem> open(const endpoint&, std::shared_ptr<listener> told,
                              endpoint& local) override {
    listening = std::move(told);
    local = *endpoint::parse("10.0.0.1:7946");
    return std::nullopt;
  }
  std::error_code send(const endpoint&, std::span<const std::uint8_t>) override {
    ++sent;
    return send_error;
  }
  void flush() override { ++flushed; }
  void async_connect(const endpoint&, connected done) override {
    connecting.push_back(std::move(done));
  }
  void close() override { ++closed; }

  std::shared_ptr<listener> listening;
  std::vector<connected> connecting;
  std::error_code send_error;
  int sent = 0;
  int flushed = 0;
  int closed = 0;
};

struct member {
  explicit member(asio::io_context& context) : transport(std::make_shared<fake_transport>()) {
    auto options = quick_options("one", "127.0.0.1:0");
    options.carried_by = transport;
    one.emplace(context, std::move(options));
    REQUIRE_FALSE(one->driver().open());
    one->driver().start();
    REQUIRE(one->driver().local_address() == *endpoint::parse("10.0.0.1:7946"));
  }

  std::shared_ptr<fake_transport> transport;
  std::optional<peer> one;
};

TEST_CASE("Of what a transport answers twice the second time changes nothing") {
  asio::io_context context;
  member subject(context);
  auto& connecting = subject.transport->connecting;
  subject.one->join({"10.0.0.2:7946"});
  REQUIRE(run_until(context, [&] { return !connecting.empty(); }));
  const auto made = std::make_shared<fake_stream>();
  const auto other = std::make_shared<fake_stream>();
  connecting[0]({}, made);
  connecting[0]({}, other);
  REQUIRE(run_until(context, [&] { return !made->writes.empty() && !made->reads.empty(); }));
  CHECK(other->reads.empty());
  CHECK(subject.one->driver().count().streams_opened == 1);
  const auto& count = subject.one->driver().count();
  made->writes[0]({}, made->written);
  made->writes[0]({}, made->written);
  REQUIRE(run_until(context, [&] { return count.bytes_sent > 0; }));
  CHECK(count.bytes_sent == made->written);

  // The peer's orderly end, said twice.
  made->reads[0]({}, 0);
  made->reads[0]({}, 0);
  CHECK(run_until(context, [&] { return made->closed == 1; }));
}

TEST_CASE("A stop waits for nothing that a transport still owes, and what comes then is dropped") {
  asio::io_context context;
  member subject(context);
  const auto transport = subject.transport;
  subject.one->join({"10.0.0.2:7946", "10.0.0.3:7946"});
  REQUIRE(run_until(context, [&] { return transport->connecting.size() == 2; }));
  const auto made = std::make_shared<fake_stream>();
  transport->connecting[0]({}, made);
  REQUIRE(run_until(context, [&] { return made->reads.size() == 1; }));

  subject.one->kill();
  CHECK(made->closed == 1);
  CHECK(transport->closed == 1);
  made->fill();
  made->reads[0]({}, 100);
  made->writes[0]({}, made->written);
  const auto late = std::make_shared<fake_stream>();
  transport->connecting[1]({}, late);
  const std::array<std::uint8_t, 3> bytes{};
  transport->listening->datagram_received(*endpoint::parse("10.0.0.2:7946"), bytes);
  transport->listening->peer_refused(*endpoint::parse("10.0.0.2:7946"));
  transport->listening->stream_accepted(*endpoint::parse("10.0.0.2:1"), late);
  context.restart();
  CHECK(context.poll() == 0);
  transport->connecting.clear();
  CHECK(late.use_count() == 1);
}

TEST_CASE("A connection that comes after its deadline is closed") {
  asio::io_context context;
  member subject(context);
  const auto transport = subject.transport;
  subject.one->join({"10.0.0.2:7946"});
  REQUIRE(run_until(context, [&] { return transport->connecting.size() == 1; }));
  REQUIRE(run_until(context, [&] { return subject.one->driver().count().streams_failed == 1; }));
  const auto late = std::make_shared<fake_stream>();
  transport->connecting[0]({}, late);
  CHECK(run_until(context, [&] { return late->closed == 1; }));
}

TEST_CASE("A transport that can't send counts against ourselves") {
  asio::io_context context;
  member subject(context);
  const auto transport = subject.transport;
  transport->send_error = std::make_error_code(std::errc::network_down);
  const auto& count = subject.one->driver().count();
  // Whoever speaks to us is answered, or would be.
  peer other(context, "other");
  swim::packet packet;
  const auto& speaker = *other.driver().protocol().self();
  const auto& target = *subject.one->driver().protocol().self();
  packet.from.name = speaker.name;
  packet.from.epoch = speaker.epoch;
  packet.body = swim::ping{1, target.name, target.epoch};
  packet.from.known_members = 2;
  std::vector<std::uint8_t> bytes;
  wire::codec("test").encode(packet, bytes);

  transport->listening->datagram_received(speaker.address, bytes);
  REQUIRE(run_until(context, [&] { return count.datagrams_received == 1; }));
  REQUIRE(transport->sent > 0);
  CHECK(count.send_errors == static_cast<std::uint64_t>(transport->sent));
  CHECK(count.datagrams_sent == 0);
  CHECK(transport->flushed > 0);
}

}  // namespace
}  // namespace lifering::net
