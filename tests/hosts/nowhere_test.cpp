// Addresses of a network's own that no host has. What is sent there waits in the sender's buffer
// until its system has found out, for some seconds, and mustn't keep others waiting.
#include <algorithm>

#include "hosts/network.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("strangers who say that they are where no host is keep no member waiting",
          "[hosts][nowhere]") {
  if (!can_make_hosts()) return;
  network net(4);
  auto all = populate(net);
  const auto strangers = net.add_host();
  auto command = net.at(strangers);
  command.insert(command.end(), {LIFERING_FLOODER, "nowhere", "2000", "600"});
  for (const auto& each : all)
    command.push_back(each->address());
  process flooder(command);
  double waiting = 0;
  const auto watch_for = [&](seconds time) {
    for (const auto end = process::clock::now() + time; process::clock::now() < end;) {
      for (const auto& each : all)
        waiting = std::max(waiting, each->stat("datagram_bytes_queued"));
      let_pass(milliseconds(50));
    }
  };
  watch_for(seconds(8));  // Twice as long as its system tries to find such a host, and more.
  const auto newcomer = net.add_host();
  all.push_back(start_on(net, newcomer, "newcomer", {net.address(0)}));
  await_agreement(all, all.size());
  watch_for(seconds(4));
  CHECK_FALSE(flooder.wait(milliseconds(0)));
  for (const auto& each : all) {
    INFO(each->name());
    CHECK(each->stat("local_health") <= 2);
    if (each != all.back()) CHECK(each->stat("dropped_unanswered") > 0);
  }
  check_nothing_else(all);
  // What a member sends in a moment is as nothing to what would wait for those.
  CHECK(waiting < 65536);
  flooder.close_input();
  CHECK(flooder.wait(agent_patience) == 0);
  const auto flood = json::parse(flooder.lines().back());
  CHECK(flood["sent"].number() / flood["seconds"].number() > 500);
}
