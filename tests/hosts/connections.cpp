#include "hosts/connections.hpp"

#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>
#include <vector>

#include "base/rng.hpp"

namespace lifering_test {
namespace {

/// Addresses that no member of a test has.
std::uint32_t some_source(lifering::base::rng& random) {
  constexpr std::uint32_t first = 0x7f010000;
  constexpr std::uint32_t last = 0x7ffffffe;
  return first + static_cast<std::uint32_t>(random.below(last - first));
}

int connect_from(std::uint32_t source, const sockaddr_in& to) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  const int on = 1;
  ::setsockopt(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  // Closing resets the connection: hundreds of thousands of them mustn't linger for a minute each.
  const linger at_once{1, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(source);
  const auto* own = reinterpret_cast<const sockaddr*>(&from);
  const auto* peer = reinterpret_cast<const sockaddr*>(&to);
  if (::bind(socket, own, sizeof from) == 0 &&
      (::connect(socket, peer, sizeof to) == 0 || errno == EINPROGRESS)) {
    return socket;
  }
  ::close(socket);
  return -1;
}

/// On loopback a connection stands at once; it doesn't where the listener's queue is full.
bool stands(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
         info.tcpi_state == TCP_ESTABLISHED;
}

std::size_t sockets_at_once() {
  constexpr rlim_t enough = 16384;
  constexpr rlim_t others = 64;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, enough + others));
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<std::size_t>(std::min(limit.rlim_cur - others, enough));
}

/// The checksum of the Internet, RFC 1071, of what has an even number of bytes.
std::uint16_t checksum(std::span<const std::uint8_t> bytes, std::uint32_t sum) {
  for (std::size_t i = 0; i < bytes.size(); i += 2)
    sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  while (sum > 0xffff)
    sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// A SYN without options. The system fills in the IP header's checksum and length.
void append_syn(lifering::base::rng& random, const sockaddr_in& to,
                std::vector<std::uint8_t>& packet) {
  iphdr ip{};
  ip.version = 4;
  ip.ihl = 5;
  ip.ttl = 64;
  ip.protocol = IPPROTO_TCP;
  ip.saddr = htonl(some_source(random));
  ip.daddr = to.sin_addr.s_addr;
  tcphdr tcp{};
  tcp.source = htons(static_cast<std::uint16_t>(1024 + random.below(64512)));
  tcp.dest = to.sin_port;
  tcp.seq = static_cast<std::uint32_t>(random.next());
  tcp.doff = sizeof tcp / 4;
  tcp.syn = 1;
  tcp.window = htons(65535);
  packet.resize(sizeof ip + sizeof tcp);
  std::memcpy(packet.data(), &ip, sizeof ip);
  std::memcpy(packet.data() + sizeof ip, &tcp, sizeof tcp);
  // Over both addresses, the protocol, the length and the segment itself, RFC 9293, section 3.1.
  constexpr std::size_t addresses = 12;
  const auto sum = checksum(std::span(packet).subspan(addresses), IPPROTO_TCP + sizeof tcp);
  const std::uint16_t in_order = htons(sum);
  std::memcpy(packet.data() + sizeof ip + offsetof(tcphdr, check), &in_order, sizeof in_order);
}

}  // namespace

void open_connections(const flood_plan& plan, pace& pace,
                      std::span<const std::uint8_t> first_words) {
  lifering::base::rng random(std::random_device{}());
  std::vector<int> kept(sockets_at_once(), -1);
  std::size_t tried = 0;
  for (auto count = pace.allowance(); count > 0; count = pace.allowance()) {
    for (std::size_t i = 0; i < count; ++i, ++tried) {
      int& place = kept[tried % kept.size()];
      if (place >= 0) ::close(place);
      place = connect_from(some_source(random), plan.targets[tried % plan.targets.size()]);
      const bool is_open = place >= 0 && stands(place);
      if (is_open && !first_words.empty()) {
        ::send(place, first_words.data(), first_words.size(), MSG_NOSIGNAL);
      }
      pace.spend(1, is_open ? 1 : 0);
    }
  }
  for (const int socket : kept) {
    if (socket >= 0) ::close(socket);
  }
}

void send_syns(const flood_plan& plan, pace& pace) {
  const int socket = ::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
  if (socket < 0) throw std::system_error(errno, std::generic_category(), "no raw socket");
  lifering::base::rng random(std::random_device{}());
  send_at(socket, pace, [&](std::size_t number, std::vector<std::uint8_t>& packet) {
    sockaddr_in to = plan.targets[number % plan.targets.size()];
    append_syn(random, to, packet);
    to.sin_port = 0;
    return to;
  });
  ::close(socket);
}

}  // namespace lifering_test
