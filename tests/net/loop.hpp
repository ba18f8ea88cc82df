// Runs an io_context until something is so. Tests wait for what they are about and never for a
// span of time; the limit is only there to fail instead of hanging.
#pragma once

#include <asio/io_context.hpp>
#include <chrono>

namespace lifering::net::test {

inline constexpr std::chrono::seconds patience{20};

/// False when it never became so.
template <class Condition>
bool run_until(asio::io_context& context, Condition&& is_so) {
  const auto limit = std::chrono::steady_clock::now() + patience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() >= limit) return false;
    context.restart();
    context.run_one_for(std::chrono::milliseconds(100));
  }
  return true;
}

}  // namespace lifering::net::test
