// Where threads say what they are reading: the only thing in lifering that a process has one of.
//
// Each thread that reads owns a block of slots; a slot holds the address of a state that must not
// be freed, or null. Blocks are never freed, only handed from a thread that ended to one that
// starts, so a writer can walk the list of blocks without a lock, and a view may be let go by
// another thread than took it. Like the heap, the list carries no setting and belongs to no ring:
// a slot says what it pins by address alone.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

namespace lifering::ring_detail {

using reader_slot = std::atomic<const void*>;

/// One cache line of slots, which only its thread writes as a rule, and a second one for the rest.
struct alignas(64) reader_block {
  static constexpr std::size_t slots_count = 8;

  std::array<reader_slot, slots_count> slots{};
  alignas(64) std::atomic<bool> taken{true};
  reader_block* next = nullptr;  ///< In the list of all blocks; set before the block is published.
  reader_block* more = nullptr;  ///< The thread's next block, for its ninth view; the thread's own.
};

class reader_slots {
 public:
  /// An empty slot of the calling thread. Wait-free and without allocation, but for the first call
  /// of a thread and when it holds eight views at once.
  static reader_slot& claim() noexcept {
    // Acquire: the slot may have been emptied by another thread, whose reads come before ours of
    // the same slot, and so before the reuse that a writer decides on seeing our next store.
    if (mine_ != nullptr && mine_->slots[0].load(std::memory_order_acquire) == nullptr) [[likely]] {
      return mine_->slots[0];
    }
    return claim_slowly();
  }

  /// The addresses that are pinned, in no order, appended to `pinned`. Acquire loads.
  static void collect(std::vector<const void*>& pinned);

  /// Whether a slot names that state. An acquire load for each slot.
  static bool name(const void* state) noexcept;

  /// Blocks ever made: as many as threads read at once, at most.
  static std::size_t blocks() noexcept;

 private:
  friend struct reader_registration;
  static reader_slot& claim_slowly() noexcept;

  static constinit thread_local reader_block* mine_ __attribute__((tls_model("initial-exec")));
};

}  // namespace lifering::ring_detail
