// A fence that is cheap on the side that runs often and dear on the side that runs seldom.
//
// A reader must make its pin visible before it looks at the current state again; a writer must make
// the new state visible before it looks at the pins. Between a store and a later load, processors
// reorder (the store waits in a buffer), so both sides need a full fence: 2 ns for each lookup.
// With Linux' membarrier the writer alone pays: the kernel makes every running thread of the
// process execute a full fence, and the reader needs only that the compiler keeps its order.
#pragma once

#include <atomic>

namespace lifering::ring_detail {

class asymmetric_fence {
 public:
  /// Finds out, once, what the system offers. Whoever publishes calls it before anybody reads.
  static void prepare() noexcept;

  /// The reader's side. Keeps the order of the stores before and the loads after it, as seen by a
  /// thread that calls heavy().
  static void light() noexcept {
    if (membarrier_works_.load(std::memory_order_relaxed)) [[likely]] {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      full();
    }
  }

  /// The writer's side.
  static void heavy() noexcept;

  /// Whether readers are spared the fence; for reports and tests.
  static bool is_asymmetric() noexcept { return membarrier_works_.load(std::memory_order_relaxed); }

  /// A fence on both sides, where the kernel doesn't help.
  static void full() noexcept;

 private:
  // Starts as false, which is safe: a reader that fences needlessly is only slower.
  static constinit std::atomic<bool> membarrier_works_;
};

}  // namespace lifering::ring_detail
