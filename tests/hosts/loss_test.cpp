// Sixty members where each packet, of streams too, is lost with a chance of 20 or 40 %.
#include <string>

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

/// All join the first at once; what is told of each is looked at afterwards, so that asking doesn't
/// take the processors from those who join.
agents start_all(const network& net) {
  agents all;
  for (std::size_t i = 0; i < members; ++i) {
    all.push_back(std::make_unique<agent>(
        'n' + std::to_string(i), i == 0 ? words{} : words{address(net, 0)},
        words{"--profile", "lan", "--quit-on-eof"}, address(net, i), net.at(i % hosts)));
  }
  return all;
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

void live_with_loss(unsigned percent, double join_bound, double crash_bound) {
  network net(hosts);
  for (std::size_t host = 0; host < hosts; ++host) {
    net.filter_input(host, "  numgen random mod 100 < " + std::to_string(percent) + " drop");
  }
  auto all = start_all(net);
  const double started = unix_seconds();
  await_agreement(all, members);
  const double joined = last_arrival(all) - started;
  let_pass(fault_time(seconds(60), seconds(600)));
  for (const auto& each : all) {
    for (const auto& [about, story] : each->all_changes()) {
      INFO(each->name() << " about " << about);
      CHECK(story == words{"joined"});
    }
  }
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
  for (const auto& each : all) {
    for (const auto& [about, story] : each->all_changes()) {
      INFO(each->name() << " about " << about);
      CHECK(story == (about == dead->name() ? words{"joined", "failed"} : words{"joined"}));
    }
  }
  check_agreement_within(all, members - 1, heal_bound);
}

}  // namespace

TEST_CASE("sixty join at 20 % loss, nobody is blamed for a minute, and a crash is seen",
          "[hosts][loss-20]") {
  if (can_make_hosts()) live_with_loss(20, 10, 10);
}

TEST_CASE("sixty join at 40 % loss, nobody is blamed for a minute, and a crash is seen",
          "[hosts][loss-40]") {
  if (can_make_hosts()) live_with_loss(40, 20, 20);
}
