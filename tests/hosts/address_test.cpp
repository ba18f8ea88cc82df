// Addresses as networks have them: changed under a running member, translated by a router, of IPv6
// alone, and behind links with room for less than a datagram.
#include <string>

#include "hosts/network.hpp"
#include "support/catch.hpp"

using namespace lifering_test;
using std::chrono::seconds;

namespace {

using words = agent::words;

std::string address_of(agent& by, const std::string& name) {
  const json answer = by.ask("members");
  for (const auto& each : answer["members"].items()) {
    if (each["name"].text() == name) return each["address"].text();
  }
  return "nowhere";
}

std::string metadata_of(agent& by, const std::string& name) {
  const json answer = by.ask("members");
  for (const auto& each : answer["members"].items()) {
    if (each["name"].text() == name) return each["meta"].text();
  }
  return "nobody";
}

/// Waits until all hold that metadata of a member.
void await_metadata(const agents& all, const std::string& name, const std::string& text) {
  const auto end = process::clock::now() + agent_patience;
  for (const auto& each : all) {
    while (metadata_of(*each, name) != text) {
      if (process::clock::now() > end) {
        throw std::runtime_error(each->name() + " lacks the metadata of " + name);
      }
      let_pass(std::chrono::milliseconds(20));
    }
  }
}

/// Text that compresses badly and tells where a piece is missing.
std::string long_text(std::size_t size, unsigned seed) {
  std::string text;
  for (unsigned i = seed; text.size() < size; ++i)
    text += std::to_string(i * 2654435761U) + '.';
  text.resize(size);
  return text;
}

/// Sends a message in one datagram that is longer than 1280 bytes, until it arrives: the first may
/// be the one by which a path's width is learned.
void send_long(agent& from, agent& to) {
  const auto text = long_text(1210, 5);
  const auto since = to.line_count();
  const auto arrived = [&](const std::string& line) {
    return line.find(text) != std::string::npos;
  };
  const auto end = process::clock::now() + agent_patience;
  do {
    const json answer = from.ask("send " + to.name() + ' ' + text);
    INFO((answer.has("error") ? answer["error"].text() : ""));
    REQUIRE(answer.has("ok"));
    REQUIRE(process::clock::now() < end);
  } while (!to.own().wait_for_line(arrived, std::chrono::milliseconds(500), since));
}

std::string inner_net(std::size_t host) {
  return "10.78." + std::to_string(host) + '.';
}

}  // namespace

TEST_CASE("a host that changes its address is failed there and found where its agent starts anew",
          "[hosts][address]") {
  if (!can_make_hosts()) return;
  network net(5);
  auto all = populate(net);
  const auto whole = all[0]->fingerprint();
  // Under the running agent, which goes on being told of by an address that is no more.
  net.set(3, "addr del 10.77.0.4/24 dev eth0\naddr add 10.77.0.44/24 dev eth0\n");
  for (const auto& each : all) {
    if (each->name() != "n3") each->wait_for_event("failed", "n3");
  }
  // It is restarted, as whoever gives a host another address does with what is bound to the old.
  all[3]->kill();
  const auto begin = process::clock::now();
  all[3] = std::make_unique<agent>("n3", words{net.address(0)},
                                   words{"--profile", "lan", "--quit-on-eof"}, "10.77.0.44:7946",
                                   net.at(3));
  await_changes(all, "n3", 3);
  CHECK(process::clock::now() - begin < seconds(5));
  check_agreement_within(all, 5, heal_bound);
  CHECK(all[0]->fingerprint() == whole);
  let_pass(seconds(6));  // What its old life and address still cause would show by now.
  for (const auto& each : all)
    CHECK(address_of(*each, "n3") == "10.77.0.44:7946");
  check_stories(all, "n3", {"joined", "failed", "joined"});
  check_nothing_else(all, {"n3"});
}

TEST_CASE("members behind a router that translates ports are members like all", "[hosts][nat]") {
  if (!can_make_hosts()) return;
  network net(4);
  // Host 3 is a router. Behind it are two hosts that others know by two ports of the router; they
  // know each other by these too.
  const auto first = net.add_host_behind(3);
  const auto second = net.add_host_behind(3);
  const auto forward = [&](unsigned port, std::size_t host) {
    const auto to = std::to_string(port) + " dnat to " + inner_net(host) + "2:7946\n";
    return "  ip daddr 10.77.0.4 udp dport " + to + "  ip daddr 10.77.0.4 tcp dport " + to;
  };
  net.rules(3, "table ip nat {\n chain pre {\n  type nat hook prerouting priority -100\n" +
                   forward(17946, first) + forward(17947, second) +
                   " }\n chain post {\n  type nat hook postrouting priority 100\n"
                   "  ip saddr 10.78.0.0/16 masquerade\n }\n}\n");
  agents all;
  for (std::size_t host = 0; host < 3; ++host) {
    all.push_back(start_on(net, host, 'n' + std::to_string(host),
                           host == 0 ? words{} : words{net.address(0)}));
  }
  const auto inside = [&](std::size_t host, unsigned port, const words& seeds) {
    return std::make_unique<agent>('n' + std::to_string(host), seeds,
                                   words{"--profile", "lan", "--quit-on-eof", "--advertise",
                                         network::with_port("10.77.0.4", port)},
                                   "0.0.0.0:7946", net.at(host));
  };
  all.push_back(inside(first, 17946, {net.address(0)}));
  all.push_back(inside(second, 17947, {"10.77.0.4:17946"}));
  await_agreement(all, 5);
  for (const auto& each : all) {
    CHECK(address_of(*each, "n4") == "10.77.0.4:17946");
    CHECK(address_of(*each, "n5") == "10.77.0.4:17947");
  }
  const auto text = long_text(8000, 1);
  CHECK(all[4]->ask("set-meta " + text).has("ok"));
  await_metadata(all, "n5", text);
  let_pass(seconds(20));
  check_stories(all, "n5", {"joined", "updated", "updated"});
  check_nothing_else(all, {"n5"});
  const auto dead = std::move(all[3]);
  all.erase(all.begin() + 3);
  dead->kill();
  await_changes(all, "n4", 2);
  let_pass(seconds(6));  // What its end does to who shares its router's address would show by now.
  check_agreement_within(all, 4, heal_bound);
  check_stories(all, "n4", {"joined", "failed"});
  check_stories(all, "n5", {"joined", "updated", "updated"});
  CHECK(all[3]->changes_of("n4") == words{"joined", "failed"});
  check_nothing_else(all, {"n4", "n5"});
}

TEST_CASE("a cluster of IPv6 alone is one like all", "[hosts][ipv6]") {
  if (!can_make_hosts()) return;
  network net(5, "fd77::");
  auto all = populate(net);
  CHECK(address_of(*all[1], "n3") == "[fd77::4]:7946");
  // Bound to all addresses, told of by the one that the route to the seed has.
  const auto host = net.add_host();
  all.push_back(std::make_unique<agent>("n5", words{net.address(1)},
                                        words{"--profile", "lan", "--quit-on-eof"}, "[::]:7946",
                                        net.at(host)));
  check_agreement_within(all, 6, heal_bound);
  for (const auto& each : all)
    CHECK(address_of(*each, "n5") == net.address(host));
  let_pass(seconds(20));
  check_nothing_else(all);
  net.set(2, "link set eth0 down\n");
  for (const auto& each : all) {
    if (each->name() != "n2") each->wait_for_event("failed", "n2");
  }
  // An address of IPv6 goes with its link.
  net.set(2, "link set eth0 up\naddr add fd77::3/64 dev eth0 nodad\n");
  check_agreement_within(all, 6, heal_bound);
  check_stories(all, "n2", {"joined", "failed", "joined"});
  check_nothing_else(all, {"n2"});
}

TEST_CASE("where only 1280 bytes fit, all data arrives all the same", "[hosts][mtu]") {
  if (!can_make_hosts()) return;
  const auto [prefix, name] =
      GENERATE(table<std::string, std::string>({{"10.77.0.", "IPv4"}, {"fd77::", "IPv6"}}));
  INFO(name);
  network net(8, prefix, 1280);
  // Of the size that rides in gossip, so that datagrams are as long as they may be.
  agents all;
  for (std::size_t host = 0; host < net.size(); ++host) {
    all.push_back(start_on(net, host, 'n' + std::to_string(host),
                           host == 0 ? words{} : words{net.address(0)},
                           {"--meta", long_text(500, static_cast<unsigned>(host))}));
  }
  check_agreement_within(all, 8, heal_bound);
  for (const std::size_t size : {std::size_t{510}, std::size_t{16384}}) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto text = long_text(size, static_cast<unsigned>(i * 1000 + size));
      CHECK(all[i]->ask("set-meta " + text).has("ok"));
    }
    for (std::size_t i = 0; i < all.size(); ++i)
      await_metadata(all, all[i]->name(), long_text(size, static_cast<unsigned>(i * 1000 + size)));
  }
  check_agreement_within(all, 8, heal_bound);
  let_pass(seconds(8));
  check_updates_alone(all);
  send_long(*all[0], *all[1]);
  CHECK(net.fragments(0) > 0);  // There are datagrams that don't fit.
}

TEST_CASE("a path that is narrower than its ends see carries all data", "[hosts][narrow]") {
  if (!can_make_hosts()) return;
  network net(4);
  // Between two routers only 1280 bytes fit. Hosts learn it from what the routers send back.
  const auto middle = net.add_host_behind(3, 1280);
  const auto beyond = net.add_host_behind(middle);
  net.set(3, "route add " + inner_net(beyond) + "0/24 via " + inner_net(middle) + "2\n");
  for (std::size_t host = 0; host < 3; ++host)
    net.set(host, "route add 10.78.0.0/16 via 10.77.0.4\n");
  const auto meta = [](std::size_t i) {
    return words{"--meta", long_text(500, static_cast<unsigned>(i))};
  };
  agents all;
  for (std::size_t host = 0; host < 3; ++host) {
    all.push_back(start_on(net, host, 'n' + std::to_string(host),
                           host == 0 ? words{} : words{net.address(0)}, meta(host)));
  }
  words more{"--profile", "lan", "--quit-on-eof"};
  for (const auto& word : meta(beyond))
    more.push_back(word);
  all.push_back(
      std::make_unique<agent>("n4", words{net.address(0)}, more, "0.0.0.0:7946", net.at(beyond)));
  check_agreement_within(all, 4, heal_bound);
  const auto text = long_text(16384, 9);
  for (const std::size_t who : {std::size_t{1}, std::size_t{3}}) {
    CHECK(all[who]->ask("set-meta " + text).has("ok"));
    await_metadata(all, all[who]->name(), text);
  }
  let_pass(seconds(8));
  check_updates_alone(all);
  check_agreement_within(all, 4, heal_bound);
  send_long(*all[0], *all[3]);
  send_long(*all[3], *all[0]);
  CHECK(net.fragments(0) > 0);  // The path is too narrow indeed.
  CHECK(net.fragments(beyond) > 0);
}
