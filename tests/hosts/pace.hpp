// How fast a flood goes and when it ends, and datagrams in batches at that pace.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lifering_test {

/// What the flooder's command line asks for.
struct flood_plan {
  std::string kind;
  double rate = 0;  ///< Packets a second, or connections.
  double seconds = 0;
  std::vector<sockaddr_in> targets;
};

/// Spreads a number of packets over a time and counts what the system took. The time is over early
/// when whoever started this process has closed its input.
class pace {
 public:
  static constexpr std::size_t batch = 64;

  explicit pace(const flood_plan& of) : rate_(of.rate), seconds_(of.seconds) {}

  /// How many more may go now, up to a batch; sleeps while there are few. Nothing more at the end.
  /// Reports ten times a second.
  std::size_t allowance();

  /// Prints what was sent so far, in what time, as one JSON object.
  void report() const;

  /// Packets that were tried cost their place, so that a full buffer slows nothing down later.
  void spend(std::size_t tried, std::size_t sent) {
    spent_ += tried;
    sent_ += sent;
  }
  double elapsed() const { return std::chrono::duration<double>(clock::now() - begin_).count(); }
  std::size_t sent() const { return sent_; }

 private:
  using clock = std::chrono::steady_clock;

  double rate_;
  double seconds_;
  clock::time_point begin_ = clock::now();
  double next_report_ = 0;
  std::size_t spent_ = 0;
  std::size_t sent_ = 0;
};

/// Sends batches until the time is over. `fill` writes the packet of a number and says where to.
template <class Fill>
void send_at(int socket, pace& pace, Fill fill) {
  std::vector<std::vector<std::uint8_t>> packets(pace::batch);
  std::array<sockaddr_in, pace::batch> to{};
  std::array<iovec, pace::batch> parts{};
  std::array<mmsghdr, pace::batch> headers{};
  for (std::size_t number = 0;;) {
    const std::size_t count = pace.allowance();
    if (count == 0) return;
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

}  // namespace lifering_test
