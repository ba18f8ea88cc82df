// The clock, the network, hosts and streams of the simulator, each on its own.
#include "sim/world.hpp"

#include <string>
#include <vector>

#include "sim/faults.hpp"
#include "sim/hosts.hpp"
#include "sim/network.hpp"
#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::sim;
using namespace std::chrono_literals;

TEST_CASE("what is due at one moment runs in the order in which it was added", "[sim]") {
  world clock;
  std::string seen;
  clock.after(2s, [&] { seen += 'c'; });
  clock.after(1s, [&] { seen += 'a'; });
  clock.after(1s, [&] {
    seen += 'b';
    clock.after(1s, [&] { seen += 'd'; });
  });
  clock.run_until(world_begin + 999ms);
  CHECK(seen.empty());
  clock.run_until(world_begin + 1s);
  CHECK(seen == "ab");
  clock.run_until(world_begin + 5s);
  CHECK(seen == "abcd");
  CHECK(clock.elapsed() == 5s);
}

TEST_CASE("virtual time doesn't begin at zero", "[sim]") {
  CHECK(world_begin.time_since_epoch() > 1h);
  CHECK(world().elapsed() == 0s);
}

TEST_CASE("what would never be due isn't kept", "[sim]") {
  world clock;
  clock.at(base::never, [] { FAIL("never came"); });
  CHECK(clock.pending() == 0);
}

namespace {

/// Two members on a network whose packets take 1 ms, and what they received.
struct wire_pair {
  explicit wire_pair(network_options options = {})
      : net(clock, state, where, options, base::rng(7)) {
    net.connect(
        [this](node_id to, const endpoint&, std::span<const std::uint8_t> bytes) {
          received.push_back({to, clock.elapsed(), bytes.size()});
        },
        [this](node_id sender, const endpoint&) {
          refused.push_back({sender, clock.elapsed(), 0});
        });
    where.start(1, false);
    where.start(2, false);
  }

  void send(node_id from, node_id to, std::size_t size = 10) {
    net.send(from, where.address(to), std::vector<std::uint8_t>(size));
  }
  void run_for(duration time) { clock.run_until(clock.now() + time); }

  static network_options fixed_latency(duration latency) {
    network_options options;
    options.latency_min = options.latency_max = latency;
    return options;
  }

  struct arrival {
    node_id node;
    duration at;
    std::size_t size;
  };
  world clock;
  faults state{2};
  hosts where{clock, state, 2};
  network net;
  std::vector<arrival> received;
  std::vector<arrival> refused;
};

}  // namespace

TEST_CASE("a datagram takes its latency and no less", "[sim][network]") {
  wire_pair pair(wire_pair::fixed_latency(3ms));
  pair.send(1, 2, 100);
  pair.run_for(2999us);
  CHECK(pair.received.empty());
  pair.run_for(1us);
  REQUIRE(pair.received.size() == 1);
  CHECK(pair.received[0].node == 2);
  CHECK(pair.received[0].size == 100);
}

TEST_CASE("latencies spread over the whole range", "[sim][network]") {
  network_options options;
  options.latency_min = 1ms;
  options.latency_max = 3ms;
  wire_pair pair(options);
  for (int i = 0; i < 1000; ++i)
    pair.send(1, 2);
  pair.run_for(1s);
  REQUIRE(pair.received.size() == 1000);
  CHECK(pair.received.front().at < 1100us);
  CHECK(pair.received.front().at >= 1ms);
  CHECK(pair.received.back().at > 2900us);
  CHECK(pair.received.back().at <= 3ms);
}

TEST_CASE("losses of network, sender and receiver add up", "[sim][network]") {
  network_options options;
  options.loss = 200'000;
  wire_pair pair(options);
  pair.state.set_loss_out(pair.clock.now(), 1, 500'000);
  pair.state.set_loss_in(pair.clock.now(), 2, 500'000);
  for (int i = 0; i < 10'000; ++i)
    pair.send(1, 2);
  pair.run_for(1s);
  // 0.8 x 0.5 x 0.5 = 0.2 get through; three standard deviations are 120.
  CHECK(pair.received.size() > 1880);
  CHECK(pair.received.size() < 2120);
  CHECK(pair.net.counters().lost == 10'000 - pair.received.size());
}

TEST_CASE("duplicates and late ones arrive as well", "[sim][network]") {
  network_options options = wire_pair::fixed_latency(1ms);
  options.duplicate = certain;
  wire_pair twice(options);
  twice.send(1, 2);
  twice.run_for(1s);
  CHECK(twice.received.size() == 2);

  options.duplicate = 0;
  options.reorder = certain;
  wire_pair late(options);
  for (int i = 0; i < 100; ++i)
    late.send(1, 2);
  late.run_for(1999us);
  CHECK(late.received.empty());
  late.run_for(1s);
  CHECK(late.received.size() == 100);
  CHECK(late.received.back().at <= 11ms);
}

TEST_CASE("a fault taken out leaves all other draws as they were", "[sim][network]") {
  network_options options;
  options.loss = 300'000;
  options.duplicate = 300'000;
  wire_pair both(options);
  options.duplicate = 0;
  wire_pair only_loss(options);
  for (int i = 0; i < 200; ++i) {
    both.send(1, 2);
    only_loss.send(1, 2);
  }
  both.run_for(1s);
  only_loss.run_for(1s);
  CHECK(both.net.counters().lost == only_loss.net.counters().lost);
  CHECK(both.received.size() == only_loss.received.size() + both.net.counters().duplicated);
}

TEST_CASE("a cut is one way", "[sim][network]") {
  wire_pair pair;
  const auto cut = pair.state.cut(pair.clock.now(), node_set(1), node_set::all());
  pair.send(1, 2);
  pair.send(2, 1);
  pair.run_for(1s);
  REQUIRE(pair.received.size() == 1);
  CHECK(pair.received[0].node == 1);
  pair.state.mend(pair.clock.now(), cut);
  pair.send(1, 2);
  pair.run_for(1s);
  CHECK(pair.received.size() == 2);
}

TEST_CASE("a living host refuses after a round trip, a gone one is silent", "[sim][network]") {
  wire_pair pair(wire_pair::fixed_latency(1ms));
  pair.where.stop(2, presence::refusing);
  pair.send(1, 2);
  pair.run_for(1999us);
  CHECK(pair.refused.empty());
  pair.run_for(1us);
  CHECK(pair.refused.size() == 1);

  pair.where.start(2, true);  // Moved: the old host goes on refusing, the new one listens.
  pair.net.send(1, hosts::address_of(2, 0), std::vector<std::uint8_t>(10));
  pair.send(1, 2);
  pair.run_for(1s);
  CHECK(pair.refused.size() == 2);
  CHECK(pair.received.size() == 1);

  pair.where.stop(2, presence::silent);
  pair.send(1, 2);
  pair.run_for(1s);
  CHECK(pair.refused.size() == 2);
  CHECK(pair.received.size() == 1);
}

TEST_CASE("datagrams above the path's limit vanish", "[sim][network]") {
  network_options options;
  options.datagram = 1000;
  wire_pair pair(options);
  pair.send(1, 2, 1000);
  pair.send(1, 2, 1001);
  pair.run_for(1s);
  CHECK(pair.received.size() == 1);
  CHECK(pair.net.counters().too_large == 1);
}

TEST_CASE("bandwidth delays, and a full queue drops", "[sim][network]") {
  network_options options = wire_pair::fixed_latency(0ms);
  options.bandwidth = 10'000;
  wire_pair pair(options);
  for (int i = 0; i < 10; ++i)
    pair.send(1, 2, 1000);  // 100 ms each; what finds more than 250 ms waiting is dropped.
  pair.run_for(100ms);
  CHECK(pair.received.size() == 1);
  pair.run_for(10s);
  CHECK(pair.received.size() == 3);
  CHECK(pair.net.counters().congested == 7);
}

TEST_CASE("a paused process finds its packets when it wakes, up to its buffer", "[sim][hosts]") {
  wire_pair pair;
  pair.where.pause(2);
  for (int i = 0; i < 1000; ++i)
    pair.send(1, 2, 100);
  pair.run_for(1s);
  CHECK(pair.received.empty());
  pair.where.resume(2, pair.where.life(2));
  CHECK(pair.received.empty());
  pair.where.drain(2);
  const std::size_t fits = hosts::default_receive_buffer / (100 + hosts::packet_overhead);
  CHECK(pair.received.size() == fits);
  CHECK(pair.net.counters().overrun == 1000 - fits);
}

TEST_CASE("a blocked process neither hears nor is heard until its gate opens", "[sim][hosts]") {
  wire_pair pair;
  pair.where.block(2);
  std::string said;
  pair.where.emit(2, [&] { said += "out"; });
  pair.send(1, 2);
  pair.run_for(1s);
  CHECK(said.empty());
  CHECK(pair.received.empty());
  pair.where.unblock(2, pair.where.life(2));
  pair.where.drain(2);
  CHECK(said == "out");
  CHECK(pair.received.size() == 1);
}

TEST_CASE("what was queued for a process doesn't reach the next one", "[sim][hosts]") {
  wire_pair pair;
  pair.where.pause(2);
  pair.send(1, 2);
  pair.run_for(1s);
  pair.where.stop(2, presence::refusing);
  pair.where.start(2, false);
  pair.where.drain(2);
  CHECK(pair.received.empty());
}

TEST_CASE("verdicts are excused for 30 s after a disturbance, and not longer", "[sim][faults]") {
  faults state(3);
  const time_point begin = world_begin;
  CHECK_FALSE(state.excuses(begin, 1, 2));

  const auto cut = state.cut(begin, node_set(1), node_set(2));
  CHECK(state.excuses(begin + 1h, 1, 2));
  CHECK(state.excuses(begin + 1h, 2, 1));  // In either direction.
  CHECK_FALSE(state.excuses(begin + 1h, 1, 3));
  state.mend(begin + 1h, cut);
  CHECK(state.excuses(begin + 1h + 30s, 1, 2));
  CHECK_FALSE(state.excuses(begin + 1h + 31s, 1, 2));

  const time_point later = begin + 2h;
  state.hampered(later, 3, true);
  CHECK(state.excuses(later, 3, 1));
  CHECK(state.excuses(later, 1, 3));
  state.hampered(later, 3, false);
  CHECK_FALSE(state.excuses(later + 31s, 3, 1));

  state.stopped(later + 1h, 2, true);
  CHECK(state.excuses(later + 1h, 1, 2));
  CHECK_FALSE(state.excuses(later + 1h, 2, 1));  // A dead observer judges nobody.

  state.set_loss_in(later + 2h, 1, 1);
  CHECK(state.excuses(later + 2h, 1, 3));
  CHECK_FALSE(state.calm());
  state.heal(later + 2h);
  CHECK(state.calm());
  CHECK_FALSE(state.excuses(later + 2h + 31s, 1, 3));
}

TEST_CASE("sets of members read as they are written", "[sim]") {
  for (const char* text : {"7", "3-5", "1-10,14", "*"}) {
    const auto set = node_set::parse(text);
    REQUIRE(set);
    CHECK(set->to_string() == text);
  }
  for (const char* text : {"", "0", "5-3", "1-", "a", "1,,2", "70000"})
    CHECK_FALSE(node_set::parse(text));
  CHECK(node_set::parse("5,1-3,2-4")->members(4) == std::vector<node_id>{1, 2, 3, 4});
}
