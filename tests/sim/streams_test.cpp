// Streams as TCP: what loss, cuts, pauses and dead hosts cost, with times pinned from both sides.
#include "sim/streams.hpp"

#include <lifering/error.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::sim;
using namespace std::chrono_literals;

namespace {

constexpr swim::stream_id first_stream{1};

/// Two members whose packets take 10 ms one way, and a log of what their processes heard.
struct stream_pair final : stream_user {
  stream_pair() : net(clock, state, where, options(), base::rng(3)) {
    net.connect([](auto&&...) {}, [](auto&&...) {});
    where.start(1, false);
    where.start(2, false);
  }

  static network_options options() {
    network_options result;
    result.latency_min = result.latency_max = 10ms;
    return result;
  }

  void open(duration deadline = 60s) { tcp.open(1, first_stream, where.address(2), deadline); }
  void send(const std::string& text) {
    tcp.send(1, first_stream, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  void run_for(duration time) { clock.run_until(clock.now() + time); }
  /// Everything that was heard so far; forgotten by asking.
  std::string heard() { return std::exchange(log, {}); }

  void on_opened(node_id node, swim::stream_id) override { note(node, "opened"); }
  void on_accepted(node_id node, swim::stream_id stream, const endpoint&) override {
    accepted = stream;
    note(node, "accepted");
  }
  void on_frame(node_id node, swim::stream_id, std::span<const std::uint8_t> bytes) override {
    note(node, bytes.size() > 20 ? "frame" : std::string(bytes.begin(), bytes.end()));
  }
  void on_ended(node_id node, swim::stream_id, std::error_code error) override {
    note(node, error ? "ended: " + error.message() : "closed");
  }
  void note(node_id node, const std::string& what) {
    log += std::to_string(node) + " " + what + "\n";
  }

  world clock;
  faults state{2};
  hosts where{clock, state, 2};
  network net;
  streams tcp{clock, where, net, *this, 10s};
  std::string log;
  swim::stream_id accepted{};
};

}  // namespace

TEST_CASE("a stream opens in one round trip and carries frames in order", "[sim][streams]") {
  stream_pair pair;
  pair.open();
  pair.send("a");
  pair.run_for(19'999us);
  CHECK(pair.heard().empty());
  pair.run_for(1us);
  CHECK(pair.heard() == "1 opened\n");
  pair.send("b");
  pair.tcp.close(1, first_stream);
  pair.run_for(10ms);
  CHECK(pair.heard() == "2 accepted\n2 a\n2 b\n2 closed\n");
  CHECK(swim::is_accepted(pair.accepted));
  CHECK(pair.tcp.open_ends() == 0);
}

TEST_CASE("who closed hears nothing any more", "[sim][streams]") {
  stream_pair pair;
  pair.open();
  pair.run_for(30ms);
  pair.heard();
  pair.tcp.close(1, first_stream);
  const std::uint8_t byte = 'x';
  pair.tcp.send(2, pair.accepted, {&byte, 1});
  pair.run_for(1s);
  CHECK(pair.heard() == "2 closed\n");
}

TEST_CASE("a lost SYN costs a second, two of them three", "[sim][streams]") {
  stream_pair pair;
  pair.state.set_loss_in(pair.clock.now(), 2, certain);
  pair.open();
  pair.run_for(1500ms);  // The first SYN and the second, a second later, are lost.
  pair.state.set_loss_in(pair.clock.now(), 2, 0);
  pair.run_for(1519ms);
  CHECK(pair.heard().empty());
  pair.run_for(1ms);
  CHECK(pair.heard() == "1 opened\n");
}

TEST_CASE("a lost segment costs 200 ms, and holds up what follows it", "[sim][streams]") {
  stream_pair pair;
  pair.open();
  pair.run_for(30ms);
  pair.heard();
  pair.state.set_loss_in(pair.clock.now(), 2, certain);
  pair.send("a");
  pair.state.set_loss_in(pair.clock.now(), 2, 0);
  pair.send("b");
  pair.run_for(209ms);
  CHECK(pair.heard().empty());
  pair.run_for(1ms);
  CHECK(pair.heard() == "2 a\n2 b\n");
}

TEST_CASE("a cut in either direction holds a stream up until it is mended", "[sim][streams]") {
  const bool forward = GENERATE(true, false);
  stream_pair pair;
  pair.open();
  pair.run_for(30ms);
  pair.heard();
  const auto cut = forward ? pair.state.cut(pair.clock.now(), node_set(1), node_set(2))
                           : pair.state.cut(pair.clock.now(), node_set(2), node_set(1));
  pair.send("a");
  pair.run_for(500ms);  // Tries after 0, 200 and 600 ms.
  CHECK(pair.heard().empty());
  pair.state.mend(pair.clock.now(), cut);
  pair.run_for(109ms);
  CHECK(pair.heard().empty());
  pair.run_for(1ms);
  CHECK(pair.heard() == "2 a\n");
}

TEST_CASE("a dead process's host refuses after a round trip", "[sim][streams]") {
  stream_pair pair;
  pair.where.stop(2, presence::refusing);
  pair.open();
  pair.run_for(20ms);
  CHECK(pair.heard() == "1 ended: Connection refused\n");
  CHECK(pair.tcp.open_ends() == 0);
}

TEST_CASE("a silent host costs the whole deadline", "[sim][streams]") {
  stream_pair pair;
  pair.where.stop(2, presence::silent);
  pair.open(5s);
  pair.run_for(5s - 1us);
  CHECK(pair.heard().empty());
  pair.run_for(1us);
  CHECK(pair.heard() == "1 ended: " + make_error_code(errc::timed_out).message() + "\n");
}

TEST_CASE("a process that ends resets its streams, a host that vanishes doesn't",
          "[sim][streams]") {
  stream_pair pair;
  pair.open();
  pair.run_for(30ms);
  pair.heard();
  const bool crashes = GENERATE(true, false);
  const presence left = crashes ? presence::refusing : presence::silent;
  pair.where.stop(2, left);
  pair.tcp.process_ended(2, left);
  pair.run_for(1s);
  CHECK(pair.heard() == (crashes ? "1 ended: Connection reset by peer\n" : ""));
}

TEST_CASE("a paused process's kernel accepts, the process hears of it later", "[sim][streams]") {
  stream_pair pair;
  pair.where.pause(2);
  pair.open();
  pair.send("a");
  pair.run_for(1s);
  CHECK(pair.heard() == "1 opened\n");
  pair.where.resume(2, pair.where.life(2));
  pair.where.drain(2);
  CHECK(pair.heard() == "2 accepted\n2 a\n");
}

TEST_CASE("the accepting side has a deadline of its own", "[sim][streams]") {
  stream_pair pair;
  pair.open();
  pair.run_for(10s + 29'999us);
  pair.heard();
  pair.run_for(1us);
  CHECK(pair.heard() == "2 ended: " + make_error_code(errc::timed_out).message() + "\n");
}
