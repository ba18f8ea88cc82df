// Keeps a proxy's list of servers the cluster's: writes nginx's upstream or HAProxy's backend from
// the members, and has the proxy reload it whenever the ring changes.
//
//     proxy_upstreams nginx|haproxy NAME GOSSIP_IP:PORT CLUSTER FILE RELOAD_COMMAND [SEED...]
//
// The instances are members named by the address that the proxy reaches them at, "10.0.0.1:8080",
// with the placement `nginx` or `haproxy:number=name`. Then the proxy sends each key where the
// members themselves say that it belongs, and an instance never forwards. This program is a member
// without weight, so that it owns nothing. The proxy's own configuration includes FILE (nginx, in
// its http block) or is given it as one more -f (HAProxy), and sends requests to "lifering"; the
// key is the header X-Key. Ends with stdin.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <lifering/compat.hpp>
#include <lifering/lifering.hpp>

#include "join.hpp"

namespace {

using nodes = std::vector<lifering::ring_node>;

/// Members that the proxy can send to, in the order of names, which is the order of servers in a
/// cluster.
nodes servers_of(const lifering::cluster& cluster) {
  const auto ring = cluster.ring();
  nodes servers;
  for (const auto& member : cluster.members()) {
    const auto* node = ring.find(member.name);
    if (node != nullptr && !node->weight.owns_nothing()) servers.push_back(*node);
  }
  return servers;
}

/// Why the proxy can't have these servers, or nothing. A name is whatever a member calls itself, so
/// none goes into a configuration that isn't an address and nothing more.
std::string fault(const nodes& servers, const lifering::placement_options& placement) {
  for (const auto& server : servers) {
    if (!lifering::endpoint::parse(server.name)) return "a member isn't named by its address";
  }
  const auto refused = placement.validate(servers);
  return refused ? refused->text : "";
}

std::string nginx_upstream(const nodes& servers) {
  std::string text = "upstream lifering {\n  hash $http_x_key consistent;\n";
  for (const auto& server : servers) {
    text += "  server " + server.name + " weight=" + to_string(server.weight) + ";\n";
  }
  return text + "}\n";
}

/// HAProxy makes points of a server's number, which is written here as the placement counts it.
std::string haproxy_backend(const nodes& servers, const lifering::placement_options& placement) {
  std::string text = "backend lifering\n  balance hdr(X-Key)\n  hash-type consistent\n";
  const auto numbers = lifering::compat::haproxy_numbers(placement, servers);
  for (std::size_t i = 0; i < servers.size(); ++i) {
    std::string name = servers[i].name;  // HAProxy's own names have no brackets.
    std::erase_if(name, [](char c) { return c == '[' || c == ']'; });
    text += "  server " + name + ' ' + servers[i].name + " id " +
            std::to_string(numbers[i].second) + " weight " + to_string(servers[i].weight) + '\n';
  }
  return text;
}

/// Replaces the file as a whole, so that the proxy never reads a part.
bool write_whole(const std::string& file, const std::string& text) {
  const std::string next = file + ".next";
  std::ofstream out(next);
  out << text;
  out.close();
  return out && std::rename(next.c_str(), file.c_str()) == 0;
}

int run(const std::vector<std::string>& given) {
  const bool is_nginx = given[0] == "nginx";
  auto options = lifering::options::local();
  options.name = given[1];
  options.bind = given[2];
  options.cluster = given[3];
  options.weight = *lifering::weight::from_thousandths(0);
  lifering::compat::haproxy haproxy;
  haproxy.number = lifering::compat::haproxy::numbers::name;
  options.placement = is_nginx ? lifering::compat::nginx{}.placement() : haproxy.placement();

  lifering::cluster cluster(options);
  std::string written;
  cluster.on_event([&](const lifering::event& event) {
    if (!std::holds_alternative<lifering::ring_event>(event)) return;
    const nodes servers = servers_of(cluster);
    const std::string text =
        is_nginx ? nginx_upstream(servers) : haproxy_backend(servers, options.placement);
    // A proxy can't have a list of no server; it keeps the last one.
    if (servers.empty() || text == written) return;
    if (const auto reason = fault(servers, options.placement); !reason.empty()) {
      std::cerr << "proxy_upstreams: " << reason << "; the proxy keeps the servers it has\n";
      return;
    }
    if (!write_whole(given[4], text)) {
      std::cerr << "proxy_upstreams: " << given[4] << " can't be written\n";
      return;
    }
    written = text;
    if (std::system(given[5].c_str()) != 0) std::cerr << "proxy_upstreams: reload failed\n";
    for (const auto& trap : options.placement.warnings(servers)) {
      std::cerr << "proxy_upstreams: " << trap << '\n';
    }
    std::cout << servers.size() << " servers" << std::endl;
  });
  cluster.start();
  join_or_try_on(cluster, {given.begin() + 6, given.end()});

  for (std::string line; std::getline(std::cin, line);) {
  }
  std::error_code ignored;
  cluster.leave(ignored);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  if (given.size() < 6 || (given[0] != "nginx" && given[0] != "haproxy")) {
    std::cerr << "usage: proxy_upstreams nginx|haproxy NAME GOSSIP_IP:PORT CLUSTER FILE "
                 "RELOAD_COMMAND [SEED...]\n";
    return 2;
  }
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::cerr << "proxy_upstreams: " << error.what() << '\n';
    return 2;
  }
}
