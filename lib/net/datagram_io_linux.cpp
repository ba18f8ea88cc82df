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
#include <vector>

#include "base/pages.hpp"
#include "net/address.hpp"
#include "net/datagram_io.hpp"

namespace lifering::net {
namespace {

constexpr std::size_t sent_at_once = 16;

constexpr std::size_t received_at_once = 8;

// What a usual network path carries is received into few pages that are always warm. The rest of a
// larger datagram goes to pages of its own, which hardly any datagram ever touches.
constexpr std::size_t near_size = 1536;
constexpr std::size_t page = 4096;

// After so many batches in turn that fill one page of them at most, what a burst has filled goes
// back to the system.
constexpr std::size_t small_batch = page / near_size;
constexpr unsigned small_in_turn_max = 16;

std::size_t far_size(std::size_t datagram_max) {
  return datagram_max <= near_size ? 0 : (datagram_max + page - 1) / page * page;
}

std::error_code last_error() {
  return {errno, asio::error::get_system_category()};
}

}  // namespace

struct datagram_receiver::state {
  explicit state(std::size_t datagram_max)
      : near(near_size * received_at_once, base::page_use::parts),
        far(far_size(datagram_max) * received_at_once, base::page_use::parts) {
    for (std::size_t i = 0; i < received_at_once; ++i) {
      auto& header = headers[i].msg_hdr;
      header.msg_name = names[i].data();
      header.msg_iov = parts[i].data();
      header.msg_iovlen = datagram_max > near_size ? 2 : 1;
      parts[i][0] = {near.data() + i * near_size, std::min(datagram_max, near_size)};
      if (datagram_max <= near_size) continue;
      whole[i] = far.data() + i * far_size(datagram_max);
      parts[i][1] = {whole[i] + near_size, datagram_max - near_size};
    }
  }

  /// Nobody reads the last batch any more.
  void end_batch() {
    if (last_batch > small_batch) {
      small_in_turn = 0;
    } else if (small_in_turn < small_in_turn_max && ++small_in_turn == small_in_turn_max) {
      near.forget();
    }
  }

  /// The bytes of a datagram, in one piece.
  std::span<const std::uint8_t> bytes(std::size_t i) {
    const std::size_t size = headers[i].msg_len;
    const auto* const start = static_cast<const std::uint8_t*>(parts[i][0].iov_base);
    if (size <= near_size) return {start, size};
    std::memcpy(whole[i], start, near_size);
    return {whole[i], size};
  }

  base::pages<std::uint8_t> near;
  base::pages<std::uint8_t> far;
  std::array<std::uint8_t*, received_at_once> whole{};  ///< In `far`: room for all of a datagram.
  std::array<asio::ip::udp::endpoint, received_at_once> names;
  std::array<std::array<iovec, 2>, received_at_once> parts{};
  std::array<mmsghdr, received_at_once> headers{};
  std::array<incoming_datagram, received_at_once> batch;
  std::size_t last_batch = 0;
  unsigned small_in_turn = small_in_turn_max;  ///< Nothing to give back yet.
};

datagram_receiver::datagram_receiver(std::size_t datagram_max)
    : state_(std::make_unique<state>(datagram_max)) {}
datagram_receiver::~datagram_receiver() = default;

std::span<const incoming_datagram> datagram_receiver::receive(io::udp_socket& socket,
                                                              std::error_code& error) {
  auto& my = *state_;
  my.end_batch();
  for (std::size_t i = 0; i < received_at_once; ++i) {
    my.headers[i].msg_hdr.msg_namelen = static_cast<socklen_t>(my.names[i].capacity());
  }
  const int count = ::recvmmsg(socket.native_handle(), my.headers.data(), received_at_once,
                               MSG_DONTWAIT, nullptr);
  my.last_batch = count < 0 ? 0 : static_cast<std::size_t>(count);
  if (count < 0) {
    error = last_error();
    return {};
  }
  error.clear();
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    my.names[i].resize(my.headers[i].msg_hdr.msg_namelen);
    my.batch[i] = {from_asio(my.names[i]), my.bytes(i),
                   (my.headers[i].msg_hdr.msg_flags & MSG_TRUNC) != 0};
  }
  return {my.batch.data(), static_cast<std::size_t>(count)};
}

std::size_t datagram_receiver::batch_max() noexcept {
  return received_at_once;
}

struct datagram_sender::state {
  std::array<iovec, sent_at_once> parts{};
  std::array<mmsghdr, sent_at_once> headers{};
};

datagram_sender::datagram_sender() : state_(std::make_unique<state>()) {}
datagram_sender::~datagram_sender() = default;

std::size_t datagram_sender::send(io::udp_socket& socket, std::span<const outgoing_datagram> list,
                                  std::span<const std::uint8_t> bytes, std::error_code& error) {
  auto& my = *state_;
  const auto size = std::min(list.size(), sent_at_once);
  for (std::size_t i = 0; i < size; ++i) {
    // sendmmsg() only reads what these point to; its types don't say so.
    my.parts[i] = {const_cast<std::uint8_t*>(bytes.data() + list[i].offset), list[i].size};
    auto& header = my.headers[i].msg_hdr;
    header.msg_name = const_cast<sockaddr*>(list[i].to.data());
    header.msg_namelen = static_cast<socklen_t>(list[i].to.size());
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
