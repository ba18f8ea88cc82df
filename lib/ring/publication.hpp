// Publication: one writer replaces an immutable state, any number of threads read it.
//
// Hazard pointers (Michael 2004) with an asymmetric fence. A reader writes the address of the state
// into a slot of its own and then makes sure that this is still the current one; a writer replaces
// the current state and then looks which of the replaced ones no slot names. Whatever the timing,
// one of the two sees the other:
//
//     reader                                   writer
//     slot = state                             current = newer         (1)
//     light fence                              heavy fence
//     current == state ?  (2)                  slot == state ?         (4)
//
// so a state is never freed under a reader. Reads of a state come before its end in the order
// (3) -> (4). tests/model checks this with explicit store buffers; tests/stress runs it on payloads
// that are poisoned instead of freed.
//
// Numbered pairs: the release store (1) synchronises with the acquire loads (2); the release store
// (3) in ring_view::release with the acquire load (4) in reader_slots::collect.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "ring/asymmetric_fence.hpp"
#include "ring/reader_slots.hpp"

namespace lifering::ring_detail {

/// The protocol with nothing left out. Tests take parts out, to see them missed.
struct publication_rules {
  static constexpr bool rereads = true;  ///< The reader looks at the current state again.
  static constexpr bool scans = true;    ///< The writer spares what a slot names.
  static void before_pin() noexcept {}   ///< Where tests let time pass.
  static void prepare() noexcept { asymmetric_fence::prepare(); }
  static void reader_fence() noexcept { asymmetric_fence::light(); }
  static void writer_fence() noexcept { asymmetric_fence::heavy(); }
};

template <class State, class Rules = publication_rules>
class publication {
 public:
  struct pin {
    const State* state;
    reader_slot* slot;
  };

  explicit publication(std::shared_ptr<const State> first) : latest_(std::move(first)) {
    Rules::prepare();
    current_.store(latest_.get(), std::memory_order_release);
  }

  publication(const publication&) = delete;
  publication& operator=(const publication&) = delete;

  /// Any thread. Lock-free: tries again only if a publication fell between the two loads.
  pin acquire() const noexcept {
    reader_slot& slot = reader_slots::claim();
    const State* state = current_.load(std::memory_order_acquire);
    for (;;) {
      Rules::before_pin();
      slot.store(state, std::memory_order_release);
      Rules::reader_fence();
      const State* again = current_.load(std::memory_order_acquire);  // (2)
      if (!Rules::rereads || again == state) [[likely]] {
        return {state, &slot};
      }
      state = again;
    }
  }

  /// One thread at a time. Never waits for a reader: states in use stay in `retired_` and are
  /// looked at again by the next publication. Throws std::bad_alloc only before it changes
  /// anything.
  void publish(std::shared_ptr<const State> next) {
    retired_.push_back(latest_);
    latest_ = std::move(next);
    current_.store(latest_.get(), std::memory_order_release);  // (1)
    collect();
  }

  /// The writer's own access to the current state.
  const std::shared_ptr<const State>& latest() const noexcept { return latest_; }

  /// Whether a slot names a state of this publication, the current one included. For the end.
  ///
  /// A slot may do so for a moment without a view: a reader of another publication stopped between
  /// its load and its second look, the state that it loaded is gone, and one of ours has its
  /// memory.
  bool is_pinned() noexcept {
    collect();
    const auto is_named = [](const auto& state) { return reader_slots::name(state.get()); };
    return is_named(latest_) || std::any_of(retired_.begin(), retired_.end(), is_named);
  }

  /// Replaced states that a reader still pins. At most one for each view that is held.
  std::size_t retired() const noexcept { return retired_.size(); }

 private:
  /// Frees what no slot names.
  void collect() noexcept {
    Rules::writer_fence();
    pinned_.clear();
    try {
      reader_slots::collect(pinned_);  // (4)
    } catch (const std::bad_alloc&) {
      return;  // What is published stands; another publication frees more.
    }
    std::erase_if(retired_, [this](const std::shared_ptr<const State>& state) {
      return !Rules::scans ||
             std::find(pinned_.begin(), pinned_.end(), state.get()) == pinned_.end();
    });
  }

  std::atomic<const State*> current_{nullptr};
  // The writer's side, on lines of its own: readers share the line of `current_` undisturbed.
  alignas(64) std::shared_ptr<const State> latest_;
  std::vector<std::shared_ptr<const State>> retired_;
  std::vector<const void*> pinned_;
};

}  // namespace lifering::ring_detail
