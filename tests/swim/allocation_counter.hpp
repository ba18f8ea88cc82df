// Counts what the program takes from the heap through operator new.
#pragma once

#include <cstddef>

namespace lifering::swim::test {

extern std::size_t allocations;

}  // namespace lifering::swim::test
