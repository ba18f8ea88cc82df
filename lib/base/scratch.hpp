// Things to work with for a moment, which all who need one take in turns.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace lifering::base {

/// A T for as long as this lives: one that lies idle, as its last user left it but cleared if it
/// can be, or else a new one. Buffers that are warm once serve all members of a process, so there
/// are as many as are in use at one moment and not as there are members.
///
/// Any thread may take one and any other give it back; what is in between belongs to one alone.
template <class T>
class scratch {
 public:
  scratch() : object_(take()) {}
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() { give_back(); }

  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_.get(); }

 private:
  /// More than that are rarely in use at once, and are made anew.
  static constexpr std::size_t idle_max = 16;

  struct shelf {
    shelf() { idle.reserve(idle_max); }
    std::mutex mutex;
    std::vector<std::unique_ptr<T>> idle;
  };

  /// Never destroyed: what is static in an application may still work after it would have been.
  static shelf& the_shelf() {
    static auto* const one = new shelf;
    return *one;
  }

  static std::unique_ptr<T> take() {
    auto& from = the_shelf();
    {
      const std::lock_guard lock(from.mutex);
      if (!from.idle.empty()) {
        auto found = std::move(from.idle.back());
        from.idle.pop_back();
        return found;
      }
    }
    return std::make_unique_for_overwrite<T>();
  }

  void give_back() noexcept {
    if constexpr (requires(T & object) { object.clear(); }) object_->clear();
    auto& to = the_shelf();
    const std::lock_guard lock(to.mutex);
    if (to.idle.size() < idle_max) to.idle.push_back(std::move(object_));
  }

  std::unique_ptr<T> object_;
};

}  // namespace lifering::base
