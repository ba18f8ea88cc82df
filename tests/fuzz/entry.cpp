// libFuzzer's entry point, for all targets.
#include "fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lifering::fuzz::run({data, size});
  return 0;
}
