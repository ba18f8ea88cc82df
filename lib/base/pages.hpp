// Memory of many pages, straight from the system and straight back to it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

namespace lifering::base {

/// When the system gives the memory that was asked for.
enum class page_use {
  whole,  ///< At once: a page that is read before it is written costs two faults, and the second
          ///< one interrupts every core that runs a thread of the process.
  parts,  ///< With the first access to each page: most will never be touched.
};

/// An array of zeroes. An allocator would keep what is freed for the thread that had it, and a
/// process that builds large tables now and then would hold several of them for ever.
template <class T>
class pages {
  static_assert(std::is_trivial_v<T>, "zeroes are a value, and need no destructor");

 public:
  pages() = default;
  explicit pages(std::size_t size, [[maybe_unused]] page_use use = page_use::whole) : size_(size) {
    if (size == 0) return;
#if defined(MAP_ANONYMOUS)
    int how = MAP_PRIVATE | MAP_ANONYMOUS;
#if defined(MAP_POPULATE)
    if (use == page_use::whole) how |= MAP_POPULATE;
#endif
    void* const found = ::mmap(nullptr, size * sizeof(T), PROT_READ | PROT_WRITE, how, -1, 0);
    if (found == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<T*>(found);
#else
    data_ = new T[size]();
#endif
  }
  pages(pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  pages& operator=(pages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~pages() {
    if (data_ == nullptr) return;
#if defined(MAP_ANONYMOUS)
    ::munmap(data_, size_ * sizeof(T));
#else
    delete[] data_;
#endif
  }

  T& operator[](std::size_t index) const noexcept {
    return data_[index];
  }
  T* data() const noexcept {
    return data_;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lifering::base
