// Sends packets at members of a cluster on this machine, as a hostile or broken neighbour might.
//
//     flooder KIND PACKETS_PER_SECOND SECONDS IP:PORT...
//
//     noise       random bytes of random lengths
//     foreign     well-formed packets of another cluster
//     invented    well-formed packets of cluster "test", not sealed, each of which tells of ten
//                 members that don't exist, under names never told before
//     invented-by:NAME:EPOCH  the same, as if that member told of them
//     nowhere     members that don't exist, each of which tells of itself alone, at addresses that
//                 no host of `network` has
//     replay      what the members send each other in the first two seconds, again and again, with
//                 the addresses that it had, and to the others too (needs root)
//     silent      connections from many addresses on which nothing is said
//     unfinished  the same with the first half of a frame
//     half-open   the first packet of a connection from many addresses, and never the third (needs
//                 root)
//
// The end of its input ends it early. Prints a JSON object now and then and at the end: what was
// sent so far, in what time.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/rng.hpp"
#include "hosts/connections.hpp"
#include "hosts/flood.hpp"
#include "hosts/pace.hpp"

namespace {

using namespace lifering_test;

/// Where `network` makes hosts there are no others.
bool is_of_tests(const lifering::endpoint& address) {
  return address.is_loopback() || address.to_string().starts_with("10.77.0.");
}

std::optional<sockaddr_in> read_target(const char* text) {
  const auto parsed = lifering::endpoint::parse(text);
  if (!parsed || !is_of_tests(*parsed) || !parsed->is_v4() || parsed->port == 0) {
    std::fprintf(stderr, "flooder: %s is no IPv4 address and port of a test\n", text);
    return std::nullopt;
  }
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(parsed->port);
  std::memcpy(&to.sin_addr, parsed->bytes.data() + 12, 4);
  return to;
}

sockaddr_in own_address(int socket) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(socket, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "no port on loopback");
  }
  return at;
}

/// Whom the sender pretends to be.
struct pretence {
  std::string name;
  std::uint64_t epoch = 0;
};

pretence read_pretence(const std::string& kind) {
  const auto name = kind.find(':');
  const auto epoch = kind.rfind(':');
  if (name == epoch) return {};
  return {kind.substr(name + 1, epoch - name - 1), std::strtoull(&kind[epoch + 1], nullptr, 10)};
}

void flood_datagrams(const flood_plan& plan, pace& pace) {
  const auto pretended = read_pretence(plan.kind);
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto own = own_address(socket);
  lifering::base::rng random(std::random_device{}());
  // The first gets half of it, and its share of the rest.
  const auto target_of = [&](std::size_t number) {
    return plan.targets[number % 2 == 0 ? 0 : number / 2 % plan.targets.size()];
  };
  if (plan.kind == "noise") {
    send_at(socket, pace, [&](std::size_t number, std::vector<std::uint8_t>& packet) {
      append_noise(random, packet);
      return target_of(number);
    });
  } else {
    packet_maker maker(plan.kind == "foreign" ? "another" : "test",
                       lifering::endpoint::v4({127, 0, 0, 1}, ntohs(own.sin_port)), pretended.name,
                       pretended.epoch);
    const bool invents = plan.kind.starts_with("invented");
    send_at(socket, pace, [&](std::size_t number, std::vector<std::uint8_t>& packet) {
      maker.append(invents ? 10 : 0, packet);
      return target_of(number);
    });
  }
  ::close(socket);
}

void flood_from_nowhere(const flood_plan& plan, pace& pace) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  packet_maker maker("test", {});
  send_at(socket, pace, [&](std::size_t number, std::vector<std::uint8_t>& packet) {
    constexpr std::size_t first = 100;
    constexpr std::size_t count = 150;
    const auto last = static_cast<std::uint8_t>(first + number % count);
    maker.move_to(lifering::endpoint::v4({10, 77, 0, last}, 7946));
    maker.append(1, packet);
    return plan.targets[number % plan.targets.size()];
  });
  ::close(socket);
}

void flood_replays(const flood_plan& plan, std::optional<pace>& begun) {
  std::vector<std::uint16_t> ports;
  for (const auto& target : plan.targets)
    ports.push_back(ntohs(target.sin_port));
  const auto recorded = record_datagrams(ports, std::chrono::seconds(2));
  if (recorded.empty()) throw std::runtime_error("nothing to replay: nobody spoke for two seconds");
  const int socket = ::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
  if (socket < 0) throw std::system_error(errno, std::generic_category(), "no raw socket");
  lifering::base::rng random(std::random_device{}());
  auto& pace = begun.emplace(plan);
  send_at(socket, pace, [&](std::size_t number, std::vector<std::uint8_t>& packet) {
    packet = recorded[random.below(recorded.size())];
    // Every other one goes to somebody whom it was not meant for.
    if (number % 2 == 1) redirect(packet, ports[random.below(ports.size())]);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    std::memcpy(&to.sin_addr, packet.data() + 16, 4);
    return to;
  });
  ::close(socket);
}

std::vector<std::uint8_t> half_a_frame() {
  std::vector<std::uint8_t> frame;
  packet_maker("test", lifering::endpoint::v4({127, 0, 0, 1}, 9)).append(10, frame);
  frame.resize(frame.size() / 2);
  return frame;
}

/// What was sent at what pace; nothing for a kind that there isn't.
std::optional<pace> flood(const flood_plan& plan) {
  std::optional<pace> begun(plan);
  if (plan.kind == "noise" || plan.kind == "foreign" || plan.kind == "invented" ||
      plan.kind.starts_with("invented-by:")) {
    flood_datagrams(plan, *begun);
  } else if (plan.kind == "nowhere") {
    flood_from_nowhere(plan, *begun);
  } else if (plan.kind == "replay") {
    flood_replays(plan, begun);
  } else if (plan.kind == "silent") {
    open_connections(plan, *begun, {});
  } else if (plan.kind == "unfinished") {
    open_connections(plan, *begun, half_a_frame());
  } else if (plan.kind == "half-open") {
    send_syns(plan, *begun);
  } else {
    return std::nullopt;
  }
  return begun;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "flooder: KIND PACKETS_PER_SECOND SECONDS IP:PORT...\n");
    return 2;
  }
  flood_plan plan{argv[1], std::strtod(argv[2], nullptr), std::strtod(argv[3], nullptr), {}};
  for (int i = 4; i < argc; ++i) {
    const auto target = read_target(argv[i]);
    if (!target) return 2;
    plan.targets.push_back(*target);
  }
  try {
    const auto ended = flood(plan);
    if (!ended) {
      std::fprintf(stderr, "flooder: no kind is called %s\n", argv[1]);
      return 2;
    }
    ended->report();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flooder: %s\n", error.what());
    return 1;
  }
}
