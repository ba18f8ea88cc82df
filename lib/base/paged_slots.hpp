// Numbered slots for what there is much of only now and then.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "base/pages.hpp"

namespace lifering::base {

/// A list that grows at its end, and whose elements stay where they are. The first `few` are in the
/// heap and keep their memory; the others are in pages from the system, which clear() gives back.
/// In the heap, what a storm took would stay behind as gaps between what the storm has brought.
///
/// Not thread-safe.
template <class T, std::size_t few = 32>
class paged_slots {
 public:
  paged_slots() = default;
  paged_slots(const paged_slots&) = delete;
  paged_slots& operator=(const paged_slots&) = delete;
  ~paged_slots() { clear(); }

  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t slot) noexcept { return *place(slot); }
  const T& operator[](std::size_t slot) const noexcept { return *place(slot); }

  T& emplace_back() {
    if (size_ < few) {
      first_.reserve(few);
      T& made = first_.emplace_back();
      ++size_;
      return made;
    }
    const std::size_t further = size_ - few;
    if (further / in_block == blocks_.size()) {
      blocks_.emplace_back(in_block * sizeof(T), page_use::parts);
    }
    T* const made = ::new (static_cast<void*>(raw(further))) T();
    ++size_;
    return *made;
  }

  void clear() noexcept {
    for (std::size_t slot = few; slot < size_; ++slot)
      std::destroy_at(place(slot));
    size_ = 0;
    first_.clear();
    blocks_ = std::vector<pages<std::byte>>();
  }

 private:
  static constexpr std::size_t in_block = (std::size_t{1} << 17) / sizeof(T);

  std::byte* raw(std::size_t further) const noexcept {
    return blocks_[further / in_block].data() + further % in_block * sizeof(T);
  }
  T* place(std::size_t slot) noexcept {
    if (slot < few) return &first_[slot];
    return std::launder(reinterpret_cast<T*>(raw(slot - few)));
  }
  const T* place(std::size_t slot) const noexcept {
    return const_cast<paged_slots*>(this)->place(slot);
  }

  std::vector<T> first_;
  std::vector<pages<std::byte>> blocks_;
  std::size_t size_ = 0;
};

}  // namespace lifering::base
