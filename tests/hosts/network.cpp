#include "hosts/network.hpp"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "support/catch.hpp"

namespace lifering_test {
namespace {

/// Administrators' programs aren't in everybody's PATH.
std::string find_tool(const std::string& name) {
  for (const auto* folder : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"}) {
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  }
  return {};
}

std::string namespace_file(std::size_t host) {
  return "/var/run/netns/h" + std::to_string(host);
}

std::string number(std::size_t of) {
  return std::to_string(of);
}

/// As a user who isn't root: root of a user namespace, who may do the rest.
bool become_root_of_our_own() {
  const auto uid = ::getuid();
  const auto gid = ::getgid();
  if (::unshare(CLONE_NEWUSER) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << gid << " 1";
  return ::geteuid() == 0;
}

/// Networks have names by files in /var/run/netns, so that gets a file system of its own.
bool isolate() {
  if (::geteuid() != 0 && !become_root_of_our_own()) return false;
  if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) return false;
  std::array<char, PATH_MAX> run{};
  if (::realpath("/var/run", run.data()) == nullptr) return false;
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", run.data(), "tmpfs", 0, "mode=755") == 0 &&
         ::mkdir("/var/run/netns", 0755) == 0;
}

std::optional<std::string> why_no_hosts() {
  for (const auto* tool : {"ip", "nft", "nsenter"}) {
    if (find_tool(tool).empty()) {
      return std::string(tool) + " is not installed (apt-get install iproute2 nftables util-linux)";
    }
  }
  if (!isolate()) return "no network namespaces can be made here (run as root)";
  try {
    network probe(1);
    probe.filter("numgen random mod 100 < 20 counter drop");
    probe.filter_input(0, "numgen random mod 100 < 20 counter drop");
  } catch (const std::exception& error) {
    return std::string("networks can't be made here: ") + error.what();
  }
  return std::nullopt;
}

std::string chain(std::string_view family, std::string_view hook, std::string_view lines) {
  return "flush ruleset\ntable " + std::string(family) +
         " faults {\n chain lost {\n  type filter hook " + std::string(hook) + " priority 0\n" +
         std::string(lines) + "\n }\n}\n";
}

}  // namespace

bool can_make_hosts() {
  static const auto why = why_no_hosts();
  if (why) std::cout << "SKIPPED: " << *why << '\n';
  return !why;
}

std::vector<std::string> run(const std::vector<std::string>& words, std::string_view input) {
  auto full = words;
  full[0] = find_tool(words[0]);
  process command(full);
  command.write(input);
  command.close_input();
  const auto code = command.wait(agent_patience);
  if (code == 0) return command.lines();
  std::string text;
  for (const auto& word : words)
    text += word + ' ';
  throw std::runtime_error(text + "failed: " + command.errors());
}

network::network(std::size_t hosts, std::string prefix, unsigned mtu)
    : prefix_(std::move(prefix)), v6_(prefix_.find(':') != std::string::npos) {
  // Without snooping: neighbours are asked for by multicast, and nobody queries for its listeners.
  run({"ip", "-batch", "-"},
      "link add hub type bridge mcast_snooping 0\n"
      "link set hub mtu " +
          number(mtu) + " up\n");
  while (hosts_ < hosts)
    add_host(mtu);
}

network::~network() {
  // A namespace takes its end of a cable with it, and that the other end, but not at once.
  std::string lines = "link del hub\n";
  for (std::size_t host = 0; host < hosts_; ++host)
    lines += "link del p" + number(host) + "\nnetns del h" + number(host) + '\n';
  try {
    run({"nft", "flush", "ruleset"});
    run({"ip", "-force", "-batch", "-"}, lines);
  } catch (const std::exception&) {  // The end of this process ends them too.
  }
}

std::size_t network::add_host(unsigned mtu) {
  const auto i = number(hosts_++);
  run({"ip", "-batch", "-"}, "netns add h" + i + "\nlink add p" + i + " mtu " + number(mtu) +
                                 " type veth peer name eth0 mtu " + number(mtu) + " netns h" + i +
                                 "\nlink set p" + i + " master hub up\n");
  const auto own = ip(hosts_ - 1) + (v6_ ? "/64 dev eth0 nodad" : "/24 dev eth0");
  set(hosts_ - 1, "link set lo up\nlink set eth0 up\naddr add " + own + '\n');
  return hosts_ - 1;
}

std::size_t network::add_host_behind(std::size_t router, unsigned mtu) {
  const auto i = number(hosts_++);
  const auto net = "10.78." + i + '.';
  run({"ip", "-batch", "-"}, "netns add h" + i);
  set(router, "link add in" + i + " mtu " + number(mtu) + " type veth peer name eth0 mtu " +
                  number(mtu) + " netns h" + i + "\nlink set in" + i + " up\naddr add " + net +
                  "1/24 dev in" + i + '\n');
  set(hosts_ - 1, "link set lo up\nlink set eth0 up\naddr add " + net +
                      "2/24 dev eth0\nroute add default via " + net + "1\n");
  auto command = at(router);
  command.insert(command.end(), {"/bin/sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"});
  command[0] = "nsenter";
  run(command);
  return hosts_ - 1;
}

std::string network::ip(std::size_t host) const {
  return prefix_ + number(host + 1);
}

std::string network::with_port(const std::string& ip, unsigned port) {
  const bool v6 = ip.find(':') != std::string::npos;
  return (v6 ? '[' + ip + ']' : ip) + ':' + number(port);
}

network::words network::at(std::size_t host) const {
  return {find_tool("nsenter"), "--net=" + namespace_file(host)};
}

void network::set(std::size_t host, std::string_view lines) const {
  run({"ip", "-netns", "h" + number(host), "-batch", "-"}, lines);
}

void network::filter(std::string_view lines) const {
  run({"nft", "-f", "-"}, chain("bridge", "forward", lines));
}

void network::filter_input(std::size_t host, std::string_view lines) const {
  rules(host, chain("inet", "input", lines));
}

void network::rules(std::size_t host, std::string_view ruleset) const {
  auto command = at(host);
  command[0] = "nsenter";
  command.insert(command.end(), {find_tool("nft"), "-f", "-"});
  run(command, ruleset);
}

void network::lose(std::size_t host, unsigned percent) const {
  filter_input(host,
               "  counter\n  numgen random mod 100 < " + std::to_string(percent) + " counter drop");
}

network::loss network::lost(std::size_t host) const {
  auto command = at(host);
  command[0] = "nsenter";
  command.insert(command.end(), {find_tool("nft"), "list", "ruleset"});
  std::vector<std::size_t> counts;
  for (const auto& line : run(command)) {
    constexpr std::string_view before = "counter packets ";
    if (const auto at = line.find(before); at != line.npos) {
      counts.push_back(std::stoul(line.substr(at + before.size())));
    }
  }
  return {counts.at(0), counts.at(1)};
}

std::size_t network::fragments(std::size_t host) const {
  auto command = at(host);
  command[0] = "nsenter";
  command.insert(command.end(), {"/bin/cat", "/proc/net/snmp", "/proc/net/snmp6"});
  std::size_t sum = 0;
  std::vector<std::string> names;
  for (const auto& line : run(command)) {
    std::istringstream text(line);
    const std::vector<std::string> fields{std::istream_iterator<std::string>(text), {}};
    // IPv6 has a line for each count; IPv4 has a line of names, and one of numbers.
    if (fields.size() == 2 && fields[0] == "Ip6FragCreates") sum += std::stoul(fields[1]);
    for (std::size_t i = 1;
         fields.size() == names.size() && fields[0] == "Ip:" && i < fields.size(); ++i) {
      if (names[i] == "FragCreates") sum += std::stoul(fields[i]);
    }
    names = fields;
  }
  return sum;
}

std::string network::cut(const std::vector<std::size_t>& from, const std::vector<std::size_t>& to) {
  const auto set_of = [](const std::vector<std::size_t>& hosts) {
    std::string text;
    for (const std::size_t host : hosts)
      text += (text.empty() ? "\"p" : ", \"p") + number(host) + '"';
    return "{ " + text + " }";
  };
  return "iifname " + set_of(from) + " oifname " + set_of(to) + " drop\n";
}

std::unique_ptr<agent> start_on(const network& net, std::size_t host, const std::string& name,
                                const agent::words& seeds, const agent::words& more) {
  agent::words options{"--profile", "lan", "--quit-on-eof"};
  options.insert(options.end(), more.begin(), more.end());
  return std::make_unique<agent>(name, seeds, options, net.address(host), net.at(host));
}

agents populate(const network& net, const agent::words& more) {
  agents all;
  for (std::size_t host = 0; host < net.size(); ++host) {
    const auto seeds = host == 0 ? agent::words{} : agent::words{net.address(0)};
    all.push_back(start_on(net, host, 'n' + number(host), seeds, more));
  }
  await_agreement(all, all.size());
  return all;
}

void check_agreement_within(const agents& all, std::size_t count, std::chrono::milliseconds bound) {
  const auto begin = process::clock::now();
  await_agreement(all, count);
  const auto took = process::clock::now() - begin;
  INFO("agreement took " << std::chrono::duration<double>(took).count() << " s");
  CHECK(took < bound);
}

std::chrono::seconds fault_time(std::chrono::seconds common, std::chrono::seconds full) {
  return std::getenv("LIFERING_LONG_TESTS") != nullptr ? full : common;
}

}  // namespace lifering_test
