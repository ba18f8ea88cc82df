// Several hosts on one machine: network namespaces behind a bridge, and what happens to networks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/stories.hpp"

namespace lifering_test {

/// Whether hosts can be made here; if not, says why in a line that skips the test. Where they can,
/// the calling process has a network and a mount table of its own from then on, so that no name of
/// a namespace, link or rule is ever seen outside, and nothing of it outlives the processes in it.
bool can_make_hosts();

/// Runs a command to its end, gives it `input`, and gives its output line by line. Throws with what
/// it said if it fails.
std::vector<std::string> run(const std::vector<std::string>& words, std::string_view input = {});

/// Hosts h0, h1, ... on one bridge, in the network of this process. Cables of the bridge are named
/// p0, p1, ...; rules see packets there. Only where can_make_hosts().
class network {
 public:
  using words = agent::words;

  /// `prefix` of 24 bits of an IPv4 address, or of 64 of an IPv6 one: "10.77.0." or "fd77::".
  explicit network(std::size_t hosts, std::string prefix = "10.77.0.", unsigned mtu = 1500);
  ~network();
  network(const network&) = delete;
  network& operator=(const network&) = delete;

  std::size_t size() const { return hosts_; }

  /// One more host on the bridge; its index.
  std::size_t add_host(unsigned mtu = 1500);

  /// A host behind that one, which routes for it, on a cable of its own. The inner host has the
  /// address 10.78.I.2, where I is its index; nobody but the router knows a way there.
  std::size_t add_host_behind(std::size_t router, unsigned mtu = 1500);

  std::string ip(std::size_t host) const;
  /// With the port that all agents have here.
  std::string address(std::size_t host) const { return with_port(ip(host)); }
  static std::string with_port(const std::string& ip, unsigned port = 7946);

  /// The command that runs a program on a host: goes in front of the program.
  words at(std::size_t host) const;

  /// Lines for `ip -batch` on a host, such as "link set eth0 down".
  void set(std::size_t host, std::string_view lines) const;

  /// Lines of a chain of nftables that sees all that the bridge forwards; they replace the former.
  void filter(std::string_view lines) const;

  /// The same for all that a host receives, from itself and from others.
  void filter_input(std::size_t host, std::string_view lines) const;

  /// A whole ruleset of a host.
  void rules(std::size_t host, std::string_view ruleset) const;

  /// Loses packets that a host receives, of streams too, each with a chance of so many percent.
  void lose(std::size_t host, unsigned percent) const;

  /// How many packets that host has received since, and how many of them were lost.
  struct loss {
    std::size_t received = 0;
    std::size_t lost = 0;
  };
  loss lost(std::size_t host) const;

  /// How many fragments of datagrams that were too long for a link a host has sent.
  std::size_t fragments(std::size_t host) const;

  /// All packets from some hosts to others are lost: lines for filter().
  static std::string cut(const std::vector<std::size_t>& from, const std::vector<std::size_t>& to);

 private:
  std::string prefix_;
  bool v6_;
  std::size_t hosts_ = 0;
};

/// An agent on a host of a network, with the lan profile, at the host's own address.
std::unique_ptr<agent> start_on(const network& net, std::size_t host, const std::string& name,
                                const agent::words& seeds, const agent::words& more = {});

/// One agent on each host, named n0, n1, ..., that have joined through the first, all seeing all.
agents populate(const network& net, const agent::words& more = {});

/// Within this after a fault has ended all must agree. Memberlist gives up on its dead after half a
/// minute, and parts that were cut for longer never come together again.
inline constexpr std::chrono::seconds heal_bound{20};

/// Waits for agreement of all and checks that it took no longer than `bound`.
void check_agreement_within(const agents& all, std::size_t count, std::chrono::milliseconds bound);

/// How long faults last that are short in a common run and have their full length where
/// LIFERING_LONG_TESTS is set.
std::chrono::seconds fault_time(std::chrono::seconds common, std::chrono::seconds full);

}  // namespace lifering_test
