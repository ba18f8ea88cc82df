#include "output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace {

volatile std::sig_atomic_t abandoned = 0;

/// Waits until a write of up to PIPE_BUF bytes would not block; false once that is no use.
bool await_room() {
  for (;;) {
    pollfd room{STDOUT_FILENO, POLLOUT, 0};
    const int ready = poll(&room, 1, abandoned == 0 ? 100 : 0);
    if (ready > 0) return true;
    if (abandoned != 0 || (ready < 0 && errno != EINTR)) return false;
  }
}

}  // namespace

void output::abandon() noexcept {
  abandoned = 1;
}

void output::write(std::string_view lines) {
  constexpr std::size_t chunk = 4096;  // PIPE_BUF on Linux
  const std::lock_guard lock(mutex_);
  while (!lines.empty() && !broken_ && await_room()) {
    const auto written = ::write(STDOUT_FILENO, lines.data(), std::min(lines.size(), chunk));
    if (written > 0) {
      lines.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      broken_ = true;
    }
  }
}
