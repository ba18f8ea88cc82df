// Counts what the program takes from the heap through operator new.
#pragma once

#include <cstddef>

namespace lifering::wire::testing {

extern std::size_t allocations;
extern std::size_t allocated_bytes;

}  // namespace lifering::wire::testing
