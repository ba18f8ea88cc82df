// Sends packets at members of a cluster on this machine, as a hostile or broken neighbour might.
//
//     flooder KIND PACKETS_PER_SECOND SECONDS IP:PORT...
//
//     noise      random bytes of random lengths
//     foreign    well-formed packets of another cluster
//     invented   well-formed packets of cluster "test", not sealed, each of which tells of ten
//     members
//                that don't exist, under names never told before
//     replay     what the members send each other in the first two seconds, again and again, with
//     the
//                addresses that it had, and to the others too (needs root)
//     streams    connections from many addresses that begin a frame and never end it
//
// Prints one JSON object: what was sent, in what time.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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
#include <thread>
#include <vector>

#include "base/rng.hpp"
#include "hosts/flood.hpp"

namespace {

using namespace lifering_test;

using clock_type = std::chrono::steady_clock;

struct plan {
  std::string kind;
  double rate = 0;
  double seconds = 0;
  std::vector<sockaddr_in> targets;
};

std::optional<sockaddr_in> read_target(const char* text) {
  const auto parsed = lifering::endpoint::parse(text);
  if (!parsed || !parsed->is_loopback() || !parsed->is_v4() || parsed->port == 0) {
    std::fprintf(stderr, "flooder: %s is no IPv4 address and port on loopback\n", text);
    return std::nullopt;
  }
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(parsed->port);
  std::memcpy(&to.sin_addr, parsed->bytes.data() + 12, 4);
  return to;
}

/// Spreads a number of packets over a time and counts what the system took.
class pace {
 public:
  explicit pace(const plan& of) : rate_(of.rate), seconds_(of.seconds) {}

  /// How many more may go now; sleeps while there are few. Nothing more at the end.
  std::size_t allowance() {
    for (;;) {
      const double passed = elapsed();
      if (passed >= seconds_) return 0;
      const double due = passed * rate_ - static_cast<double>(spent_);
      if (due >= 32) return std::min<std::size_t>(static_cast<std::size_t>(due), 64);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  /// Packets that were tried cost their place, so that a full buffer slows nothing down later.
  void spend(std::size_t tried, std::size_t sent) {
    spent_ += tried;
    sent_ += sent;
  }
  double elapsed() const {
    return std::chrono::duration<double>(clock_type::now() - begin_).count();
  }
  std::size_t sent() const { return sent_; }

 private:
  double rate_;
  double seconds_;
  clock_type::time_point begin_ = clock_type::now();
  std::size_t spent_ = 0;
  std::size_t sent_ = 0;
};

/// Sends batches until the time is over. `fill` writes the packet of a number and says where to.
template <class Fill>
std::size_t flood(int socket, pace& pace, Fill fill) {
  constexpr std::size_t batch = 64;
  std::vector<std::vector<std::uint8_t>> packets(batch);
  std::array<sockaddr_in, batch> to{};
  std::array<iovec, batch> parts{};
  std::array<mmsghdr, batch> headers{};
  for (std::size_t number = 0;;) {
    const std::size_t count = pace.allowance();
    if (count == 0) return pace.sent();
    for (std::size_t i = 0; i < count; ++i, ++number) {
      packets[i].clear();
      to[i] = fill(number, packets[i]);
      parts[i] = {packets[i].data(), packets[i].size()};
      headers[i].msg_hdr = {};
      headers[i].msg_hdr.msg_name = &to[i];
      headers[i].msg_hdr.msg_namelen = sizeof to[i];
      headers[i].msg_hdr.msg_iov = &parts[i];
      headers[i].msg_hdr.msg_iovlen = 1;
    }
    const int sent = ::sendmmsg(socket, headers.data(), static_cast<unsigned>(count), 0);
    pace.spend(count, sent > 0 ? static_cast<std::size_t>(sent) : 0);
  }
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

std::size_t flood_datagrams(const plan& plan) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto own = own_address(socket);
  lifering::base::rng random(std::random_device{}());
  // The first gets half of it, and its share of the rest.
  const auto target_of = [&](std::size_t number) {
    return plan.targets[number % 2 == 0 ? 0 : number / 2 % plan.targets.size()];
  };
  pace pace(plan);
  std::size_t sent = 0;
  if (plan.kind == "noise") {
    sent = flood(socket, pace, [&](std::size_t number, std::vector<std::uint8_t>& packet) {
      append_noise(random, packet);
      return target_of(number);
    });
  } else {
    packet_maker maker(plan.kind == "foreign" ? "another" : "test",
                       lifering::endpoint::v4({127, 0, 0, 1}, ntohs(own.sin_port)));
    const bool invents = plan.kind == "invented";
    sent = flood(socket, pace, [&](std::size_t number, std::vector<std::uint8_t>& packet) {
      maker.append(invents ? 10 : 0, packet);
      return target_of(number);
    });
  }
  ::close(socket);
  return sent;
}

std::size_t flood_replays(const plan& plan) {
  std::vector<std::uint16_t> ports;
  for (const auto& target : plan.targets)
    ports.push_back(ntohs(target.sin_port));
  const auto recorded = record_datagrams(ports, std::chrono::seconds(2));
  if (recorded.empty()) throw std::runtime_error("nothing to replay: nobody spoke for two seconds");
  const int socket = ::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
  if (socket < 0) throw std::system_error(errno, std::generic_category(), "no raw socket");
  lifering::base::rng random(std::random_device{}());
  pace pace(plan);
  const auto sent = flood(socket, pace, [&](std::size_t number, std::vector<std::uint8_t>& packet) {
    packet = recorded[random.below(recorded.size())];
    // Every other one goes to somebody whom it was not meant for.
    if (number % 2 == 1) redirect(packet, ports[random.below(ports.size())]);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    std::memcpy(&to.sin_addr, packet.data() + 16, 4);
    return to;
  });
  ::close(socket);
  return sent;
}

/// Opens connections as fast as the plan says and keeps the last eight hundred.
std::size_t flood_streams(const plan& plan) {
  constexpr std::size_t kept_max = 800;
  std::vector<int> kept(kept_max, -1);
  std::vector<std::uint8_t> frame;
  packet_maker("test", lifering::endpoint::v4({127, 0, 0, 1}, 9)).append(10, frame);
  frame.resize(frame.size() / 2);
  std::size_t opened = 0;
  pace pace(plan);
  for (std::size_t count = pace.allowance(); count > 0; count = pace.allowance()) {
    for (std::size_t i = 0; i < count; ++i) {
      const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      sockaddr_in from{};
      from.sin_family = AF_INET;
      from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + static_cast<std::uint32_t>(opened % 250));
      static_cast<void>(::bind(socket, reinterpret_cast<const sockaddr*>(&from), sizeof from));
      const auto& to = plan.targets[opened % plan.targets.size()];
      // On loopback a connection stands at once or not at all.
      const bool stands =
          ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 ||
          errno == EINPROGRESS;
      if (opened % 2 == 1) ::send(socket, frame.data(), frame.size(), MSG_NOSIGNAL);
      int& slot = kept[opened % kept_max];
      if (slot >= 0) ::close(slot);
      slot = socket;
      ++opened;
      pace.spend(1, stands ? 1 : 0);
    }
  }
  for (const int socket : kept) {
    if (socket >= 0) ::close(socket);
  }
  return pace.sent();
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  if (argc < 5) {
    std::fprintf(stderr, "flooder: KIND PACKETS_PER_SECOND SECONDS IP:PORT...\n");
    return 2;
  }
  plan.kind = argv[1];
  plan.rate = std::strtod(argv[2], nullptr);
  plan.seconds = std::strtod(argv[3], nullptr);
  for (int i = 4; i < argc; ++i) {
    const auto target = read_target(argv[i]);
    if (!target) return 2;
    plan.targets.push_back(*target);
  }
  try {
    std::size_t sent = 0;
    if (plan.kind == "noise" || plan.kind == "foreign" || plan.kind == "invented") {
      sent = flood_datagrams(plan);
    } else if (plan.kind == "replay") {
      sent = flood_replays(plan);
    } else if (plan.kind == "streams") {
      sent = flood_streams(plan);
    } else {
      std::fprintf(stderr, "flooder: no kind is called %s\n", argv[1]);
      return 2;
    }
    std::printf("{\"sent\":%zu,\"seconds\":%.3f}\n", sent, plan.seconds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flooder: %s\n", error.what());
    return 1;
  }
}
