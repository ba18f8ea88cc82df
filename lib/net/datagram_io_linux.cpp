// Batches by recvmmsg(2) and sendmmsg(2), reports by the error queue of ip(7).
#include <time.h>  // linux/errqueue.h leaves out what it needs

#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <asio/error.hpp>
#include <cerrno>
#include <cstring>

#include "base/pages.hpp"
#include "net/address.hpp"
#include "net/datagram_io.hpp"

namespace lifering::net {
namespace {

constexpr std::size_t sent_at_once = 16;

constexpr std::size_t received_at_once = 8;

/// No datagram is longer.
constexpr std::size_t datagram_room = std::size_t{1} << 16;

std::error_code last_error() {
  return {errno, asio::error::get_system_category()};
}

}  // namespace

struct datagram_receiver::state {
  state() {
    for (std::size_t i = 0; i < received_at_once; ++i) {
      parts[i].iov_base = bytes.data() + i * datagram_room;
      auto& header = headers[i].msg_hdr;
      header.msg_name = names[i].data();
      header.msg_iov = &parts[i];
      header.msg_iovlen = 1;
    }
  }

  base::pages<std::uint8_t> bytes{received_at_once * datagram_room, base::page_use::parts};
  std::array<asio::ip::udp::endpoint, received_at_once> names;
  std::array<iovec, received_at_once> parts{};
  std::array<mmsghdr, received_at_once> headers{};
  std::array<incoming_datagram, received_at_once> batch;
};

datagram_receiver::datagram_receiver(std::size_t datagram_max) {
  for (auto& each : state_->parts)
    each.iov_len = std::min(datagram_max, datagram_room);
}
datagram_receiver::~datagram_receiver() = default;

std::span<const incoming_datagram> datagram_receiver::receive(io::udp_socket& socket,
                                                              std::error_code& error) {
  auto& my = *state_;
  for (std::size_t i = 0; i < received_at_once; ++i) {
    my.headers[i].msg_hdr.msg_namelen = static_cast<socklen_t>(my.names[i].capacity());
  }
  const int count = ::recvmmsg(socket.native_handle(), my.headers.data(), received_at_once,
                               MSG_DONTWAIT, nullptr);
  if (count < 0) {
    error = last_error();
    return {};
  }
  error.clear();
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const auto& header = my.headers[i];
    my.names[i].resize(header.msg_hdr.msg_namelen);
    my.batch[i] = {from_asio(my.names[i]),
                   {static_cast<const std::uint8_t*>(my.parts[i].iov_base), header.msg_len},
                   (header.msg_hdr.msg_flags & MSG_TRUNC) != 0};
  }
  return {my.batch.data(), static_cast<std::size_t>(count)};
}

std::size_t datagram_receiver::batch_max() noexcept {
  return received_at_once;
}

struct datagram_sender::state {
  std::array<asio::ip::udp::endpoint, sent_at_once> names;
  std::array<iovec, sent_at_once> parts{};
  std::array<mmsghdr, sent_at_once> headers{};
};

datagram_sender::datagram_sender() = default;
datagram_sender::~datagram_sender() = default;

std::size_t datagram_sender::send(io::udp_socket& socket, bool is_v6, const outbox& from,
                                  std::size_t first, std::error_code& error) {
  auto& my = *state_;
  const auto list = std::span(from.list).subspan(first);
  const auto size = std::min(list.size(), sent_at_once);
  for (std::size_t i = 0; i < size; ++i) {
    // sendmmsg() only reads what these point to; its types don't say so.
    const auto bytes = from.bytes_of(list[i]);
    my.parts[i] = {const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
    my.names[i] = to_asio<asio::ip::udp>(list[i].to, is_v6);
    auto& header = my.headers[i].msg_hdr;
    header.msg_name = my.names[i].data();
    header.msg_namelen = static_cast<socklen_t>(my.names[i].size());
    header.msg_iov = &my.parts[i];
    header.msg_iovlen = 1;
  }
  const int count = ::sendmmsg(socket.native_handle(), my.headers.data(),
                               static_cast<unsigned>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0) {
    error = last_error();
    return 0;
  }
  error.clear();
  return static_cast<std::size_t>(count);
}

std::size_t held_by_system(io::udp_socket& socket) {
  int held = 0;
  return ::ioctl(socket.native_handle(), SIOCOUTQ, &held) == 0 ? static_cast<std::size_t>(held) : 0;
}

void enable_reports(io::udp_socket& socket, std::error_code& error) {
  error.clear();
  const int on = 1;
  const auto handle = socket.native_handle();
  // A dual-stack socket has both kinds of traffic and needs both.
  if (::setsockopt(handle, IPPROTO_IP, IP_RECVERR, &on, sizeof on) != 0) error = last_error();
  asio::ip::udp::endpoint local = socket.local_endpoint(error);
  if (!error && local.address().is_v6() &&
      ::setsockopt(handle, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on) != 0) {
    error = last_error();
  }
}

std::optional<network_report> next_report(io::udp_socket& socket) {
  asio::ip::udp::endpoint peer;
  alignas(cmsghdr) std::array<std::uint8_t, 512> control;
  std::uint8_t ignored = 0;  // The failed packet itself would come back here.
  iovec part{&ignored, sizeof ignored};
  msghdr header{};
  header.msg_name = peer.data();
  header.msg_namelen = static_cast<socklen_t>(peer.capacity());
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  if (::recvmsg(socket.native_handle(), &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
    return std::nullopt;
  }
  network_report result{network_report::kind::local, {}};
  if (header.msg_namelen != 0) {
    peer.resize(header.msg_namelen);
    result.peer = from_asio(peer);
  }
  for (auto* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    const bool is_report = (item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_RECVERR) ||
                           (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_RECVERR);
    if (!is_report) continue;
    sock_extended_err report{};
    std::memcpy(&report, CMSG_DATA(item), sizeof report);
    if (report.ee_origin != SO_EE_ORIGIN_ICMP && report.ee_origin != SO_EE_ORIGIN_ICMP6) continue;
    result.what = report.ee_errno == ECONNREFUSED ? network_report::kind::refused
                                                  : network_report::kind::unreachable;
  }
  return result;
}

}  // namespace lifering::net
