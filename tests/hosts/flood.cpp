#include "hosts/flood.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/if_ether.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <lifering/placement.hpp>
#include <system_error>

namespace lifering_test {

void append_noise(lifering::base::rng& random, std::vector<std::uint8_t>& packet) {
  packet.resize(1 + random.below(1400));
  for (std::size_t i = 0; i < packet.size(); i += 8) {
    const std::uint64_t bits = random.next();
    for (std::size_t j = 0; j < 8 && i + j < packet.size(); ++j)
      packet[i + j] = static_cast<std::uint8_t>(bits >> (8 * j));
  }
  // The beginning of an envelope of cluster "test" that tells the right length.
  constexpr std::size_t header = 14;
  if (packet.size() <= header || random.chance(1, 2)) return;
  const auto length = packet.size() - header;
  const std::array<std::uint8_t, header> begin{'l',
                                               'r',
                                               1,
                                               1,
                                               0,
                                               4,
                                               0,
                                               0,
                                               static_cast<std::uint8_t>(length >> 8),
                                               static_cast<std::uint8_t>(length & 0xff),
                                               't',
                                               'e',
                                               's',
                                               't'};
  std::copy(begin.begin(), begin.end(), packet.begin());
}

packet_maker::packet_maker(std::string cluster, const lifering::endpoint& address,
                           std::string pretended, std::uint64_t epoch)
    : codec_(std::move(cluster)), address_(address), pretended_(std::move(pretended)) {
  packet_.from.epoch = pretended_.empty() ? epoch_ : epoch;
  packet_.from.incarnation = 1;
  packet_.from.known_members = 5;
  packet_.from.placement = lifering::placement_options::slots().id();  // The agents' default.
}

void packet_maker::append(std::size_t invented, std::vector<std::uint8_t>& packet) {
  packet_.from.name = pretended_.empty() ? "ghost-" + std::to_string(invented_) : pretended_;
  packet_.ask(invented_ + 1, "n0", 1);
  packet_.updates.resize(invented);
  for (auto& update : packet_.updates) {
    auto made = std::make_shared<lifering::swim::record>();
    made->name = "ghost-" + std::to_string(invented_++);
    made->epoch = epoch_;
    made->incarnation = 1;
    made->address = address_;
    update.kind = lifering::swim::update_kind::alive;
    update.incarnation = 1;
    update.subject = std::move(made);
  }
  if (invented == 0) ++invented_;
  codec_.encode(packet_, packet);
}

std::vector<std::vector<std::uint8_t>> record_datagrams(const std::vector<std::uint16_t>& ports,
                                                        std::chrono::milliseconds time) {
  const int socket = ::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_IP));
  if (socket < 0) throw std::system_error(errno, std::generic_category(), "packets can't be seen");
  sockaddr_ll on{};
  on.sll_family = AF_PACKET;
  on.sll_protocol = htons(ETH_P_IP);
  on.sll_ifindex = static_cast<int>(::if_nametoindex("lo"));
  static_cast<void>(::bind(socket, reinterpret_cast<const sockaddr*>(&on), sizeof on));
  std::vector<std::vector<std::uint8_t>> found;
  const auto end = std::chrono::steady_clock::now() + time;
  std::array<std::uint8_t, 2048> buffer;
  while (std::chrono::steady_clock::now() < end) {
    pollfd wait{socket, POLLIN, 0};
    if (::poll(&wait, 1, 50) <= 0) continue;
    sockaddr_ll from{};
    socklen_t size = sizeof from;
    const auto length = ::recvfrom(socket, buffer.data(), buffer.size(), 0,
                                   reinterpret_cast<sockaddr*>(&from), &size);
    constexpr std::ptrdiff_t ip_header = 20;
    constexpr std::ptrdiff_t udp_header = 8;
    constexpr std::uint8_t udp = 17;
    if (length < ip_header + udp_header || buffer[0] != 0x45 || buffer[9] != udp) continue;
    if (from.sll_pkttype == PACKET_OUTGOING) continue;  // It comes in as well.
    const auto port = static_cast<std::uint16_t>(buffer[22] << 8 | buffer[23]);
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) continue;
    found.emplace_back(buffer.begin(), buffer.begin() + length);
    found.back()[26] = found.back()[27] = 0;  // No checksum: it wasn't computed on loopback.
  }
  ::close(socket);
  return found;
}

void redirect(std::vector<std::uint8_t>& packet, std::uint16_t port) {
  packet[22] = static_cast<std::uint8_t>(port >> 8);
  packet[23] = static_cast<std::uint8_t>(port & 0xff);
}

}  // namespace lifering_test
