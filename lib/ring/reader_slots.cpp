// The list of all threads' slots.
#include "ring/reader_slots.hpp"

#include <utility>

namespace lifering::ring_detail {

namespace {

// Grows at its head only and is never freed, so that it can be walked at any time.
constinit std::atomic<reader_block*> all_blocks{nullptr};

reader_block* take_block() {
  for (reader_block* block = all_blocks.load(std::memory_order_acquire); block != nullptr;
       block = block->next) {
    // Acquire: pairs with the release in return_blocks, so that `more` is ours to write.
    if (!block->taken.load(std::memory_order_relaxed) &&
        !block->taken.exchange(true, std::memory_order_acquire)) {
      return block;
    }
  }
  auto* block = new reader_block;
  block->next = all_blocks.load(std::memory_order_relaxed);
  // Release: a writer that finds the block finds it whole. Relaxed would do for a failed try.
  while (!all_blocks.compare_exchange_weak(block->next, block, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
  return block;
}

/// Whether something holds of what any slot says. Acquire loads.
template <class Holds>
bool any_slot(Holds holds) {
  for (const reader_block* block = all_blocks.load(std::memory_order_acquire); block != nullptr;
       block = block->next) {
    for (const reader_slot& slot : block->slots) {
      if (holds(slot.load(std::memory_order_acquire))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

constinit thread_local reader_block* reader_slots::mine_ = nullptr;

/// Gives the thread's blocks back when it ends. Slots that are still full, as a view went to
/// another thread, stay full until that one lets go: the next owner passes them over.
struct reader_registration {
  ~reader_registration() {
    reader_block* block = std::exchange(reader_slots::mine_, nullptr);
    while (block != nullptr) {
      reader_block* more = std::exchange(block->more, nullptr);
      block->taken.store(false, std::memory_order_release);
      block = more;
    }
  }
};

reader_slot& reader_slots::claim_slowly() noexcept {
  // A view that is taken after this destructor ran, by the destructor of another thread-local
  // object, registers the thread anew, and that block is not handed on.
  thread_local const reader_registration registration;
  static_cast<void>(registration);

  reader_block** link = &mine_;
  while (*link != nullptr) {
    for (reader_slot& slot : (*link)->slots) {
      if (slot.load(std::memory_order_acquire) == nullptr) {
        return slot;
      }
    }
    link = &(*link)->more;
  }
  *link = take_block();
  return claim_slowly();
}

std::size_t reader_slots::blocks() noexcept {
  std::size_t count = 0;
  for (const reader_block* block = all_blocks.load(std::memory_order_acquire); block != nullptr;
       block = block->next) {
    ++count;
  }
  return count;
}

void reader_slots::collect(std::vector<const void*>& pinned) {
  any_slot([&pinned](const void* state) {
    if (state != nullptr) {
      pinned.push_back(state);
    }
    return false;
  });
}

bool reader_slots::name(const void* state) noexcept {
  return any_slot([state](const void* named) { return named == state; });
}

}  // namespace lifering::ring_detail
