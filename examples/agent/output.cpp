#include "output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace {

/// Set by a signal handler, read by every thread that writes: sig_atomic_t would only do within one
/// thread.
std::atomic<bool> abandoned = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

/// Waits until a write of up to PIPE_BUF bytes would not block; false once that is no use.
bool await_room() {
  for (;;) {
    pollfd room{STDOUT_FILENO, POLLOUT, 0};
    const int ready = poll(&room, 1, abandoned ? 0 : 100);
    if (ready > 0) return true;
    if (abandoned || (ready < 0 && errno != EINTR)) return false;
  }
}

}  // namespace

void output::abandon() noexcept {
  abandoned = true;
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
