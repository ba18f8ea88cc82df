// The counting operator new, in a file of its own so that no compiler sees through it.
#include "allocation_counter.hpp"

#include <cstdlib>
#include <new>

namespace lifering::swim::test {

std::size_t allocations = 0;

}  // namespace lifering::swim::test

void* operator new(std::size_t size) {
  ++lifering::swim::test::allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

// AddressSanitizer has one of its own, which would not go with our delete.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++lifering::swim::test::allocations;
  return std::malloc(size);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
