// Waiting for what must come.
#pragma once

#include <chrono>
#include <thread>

namespace lifering_test {

/// Asks again and again until it holds; false if it doesn't within a minute, which is generous: ten
/// processes may share one busy core.
bool eventually(auto holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace lifering_test
