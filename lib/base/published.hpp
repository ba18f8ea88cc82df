// A value that is replaced as a whole, for what changes seldom and is read by several threads.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace lifering::base {

/// Holds an immutable T. Readers get the whole of one value, never parts of two; what they hold
/// lives on for as long as they hold it. All functions are safe from any thread. They take a mutex
/// for the time of copying a pointer, so this isn't for paths that must not wait: the ring has its
/// own cell.
template <class T>
class published {
 public:
  explicit published(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  std::shared_ptr<const T> load() const {
    const std::lock_guard guard(mutex_);
    return value_;
  }

  /// Replaces the value by `change(copy of it)`; writers come one after the other. If `change`
  /// returns false or throws, nothing is replaced. `change` must not call this object.
  template <class Change>
  bool update(Change change) {
    std::shared_ptr<const T> old;  // Goes after the lock does: its end may be long.
    const std::lock_guard guard(mutex_);
    auto next = std::make_shared<T>(*value_);
    if (!change(*next)) return false;
    old = std::exchange(value_, std::move(next));
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace lifering::base
