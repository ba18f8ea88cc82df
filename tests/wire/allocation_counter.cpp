// The counting operator new, in a file of its own so that no compiler sees through it.
#include "wire/allocation_counter.hpp"

#include <cstdlib>
#include <new>

namespace lifering::wire::testing {

std::size_t allocations = 0;
std::size_t allocated_bytes = 0;

}  // namespace lifering::wire::testing

void* operator new(std::size_t size) {
  ++lifering::wire::testing::allocations;
  lifering::wire::testing::allocated_bytes += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++lifering::wire::testing::allocations;
  lifering::wire::testing::allocated_bytes += size;
  return std::malloc(size);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
