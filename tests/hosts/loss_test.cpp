// Sixty members where each packet, of streams too, is lost with a chance of 20 or 40 %.
#include <cmath>
#include <future>
#include <string>
#include <vector>

#include "hosts/network.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using std::chrono::seconds;

namespace {

using words = agent::words;

constexpr std::size_t hosts = 12;
constexpr std::size_t members = 60;

std::string address(const network& net, std::size_t member) {
  return network::with_port(net.ip(member % hosts), static_cast<unsigned>(7946 + member / hosts));
}

/// The time of an event, in seconds of the system's clock.
double unix_seconds() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

/// All join the first at once, each started by a thread of its own; what is told of each is looked
/// at afterwards, so that asking doesn't take the processors from those who join.
agents start_all(const network& net) {
  std::vector<std::future<std::unique_ptr<agent>>> starts;
  for (std::size_t i = 0; i < members; ++i) {
    starts.push_back(std::async(std::launch::async, [&net, i] {
      return std::make_unique<agent>(
          'n' + std::to_string(i), i == 0 ? words{} : words{address(net, 0)},
          words{"--profile", "lan", "--quit-on-eof"}, address(net, i), net.at(i % hosts));
    }));
  }
  agents all;
  for (auto& each : starts)
    all.push_back(each.get());
  return all;
}

/// The packets that were lost are as many as were to be.
void check_loss(const network& net, unsigned percent) {
  double received = 0;
  double lost = 0;
  for (std::size_t host = 0; host < hosts; ++host) {
    const auto [in, out] = net.lost(host);
    received += static_cast<double>(in);
    lost += static_cast<double>(out);
  }
  INFO(lost << " of " << received << " packets were lost");
  CHECK(received > 10'000);
  CHECK(std::abs(100 * lost / received - percent) < 2);
}

/// When the last of all was told of the last of the others.
double last_arrival(const agents& all) {
  double last = 0;
  for (const auto& each : all) {
    std::size_t arrived = 0;
    for (const auto& line : each->own().lines()) {
      if (!line.starts_with("{\"event\":\"joined\"")) continue;
      ++arrived;
      last = std::max(last, json::parse(line)["t"].number());
    }
    CHECK(arrived == members - 1);
  }
  return last;
}

/// They join, all see all, and nobody is blamed. Says in how many seconds.
agents join_all(const network& net, double& took) {
  auto all = start_all(net);
  const double started = unix_seconds();
  await_agreement(all, members);
  check_nothing_else(all);
  took = last_arrival(all) - started;
  return all;
}

void live_with_loss(unsigned percent, double join_bound, double crash_bound) {
  network net(hosts);
  for (std::size_t host = 0; host < hosts; ++host)
    net.lose(host, percent);
  double joined = 0;
  auto all = join_all(net, joined);
  // What else this machine does may spoil it once; what is broken spoils it each time.
  for (int again = 0; again < 2 && joined >= join_bound; ++again) {
    all.clear();
    all = join_all(net, joined);
  }
  let_pass(fault_time(seconds(60), seconds(600)));
  check_nothing_else(all);
  const auto dead = std::move(all.back());
  all.pop_back();
  dead->kill();
  const double killed = unix_seconds();
  double known = 0;
  for (const auto& each : all) {
    known = std::max(known, each->wait_for_event("failed", dead->name())["t"].number() - killed);
  }
  std::printf(
      "%u %% loss: all saw all %.2f s after the last start, a crash was known after %.2f s\n",
      percent, joined, known);
  CHECK(joined < join_bound);
  CHECK(known < crash_bound);
  check_agreement_within(all, members - 1, heal_bound);
  check_stories(all, dead->name(), {"joined", "failed"});
  check_nothing_else(all, {dead->name()});
  check_loss(net, percent);
}

}  // namespace

TEST_CASE("sixty join at 20 % loss, nobody is blamed for a minute, and a crash is seen",
          "[hosts][loss-20]") {
  if (can_make_hosts()) live_with_loss(20, 3, 3);
}

TEST_CASE("sixty join at 40 % loss, nobody is blamed for a minute, and a crash is seen",
          "[hosts][loss-40]") {
  if (can_make_hosts()) live_with_loss(40, 6, 6);
}
