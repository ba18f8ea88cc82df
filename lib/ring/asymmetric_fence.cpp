// membarrier(2), or a fence on both sides where it is missing.
#include "ring/asymmetric_fence.hpp"

#include <cerrno>

#include "base/check.hpp"

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace lifering::ring_detail {

constinit std::atomic<bool> asymmetric_fence::membarrier_works_{false};

namespace {

#if defined(__linux__)
bool command(int which) noexcept {
  return ::syscall(SYS_membarrier, which, 0U, 0) == 0;
}

bool enrol() noexcept {
  return command(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

bool barrier() noexcept {
  // A child made by fork() may have to enrol again.
  return command(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
         (errno == EPERM && enrol() && command(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}
#else
bool enrol() noexcept {
  return false;
}
bool barrier() noexcept {
  return false;
}
#endif

}  // namespace

void asymmetric_fence::prepare() noexcept {
  static const bool works = enrol() && barrier();
  membarrier_works_.store(works, std::memory_order_relaxed);
}

void asymmetric_fence::heavy() noexcept {
  full();
  if (membarrier_works_.load(std::memory_order_relaxed)) {
    // Readers rely on it already, so there is no way on without it.
    LIFERING_CHECK(barrier());
  }
}

void asymmetric_fence::full() noexcept {
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer doesn't understand fences; a read-modify-write has the same effect.
  static constinit std::atomic<unsigned> anything{0};
  anything.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace lifering::ring_detail
