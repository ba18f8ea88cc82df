// Numbers that a life must echo to prove that it lives now. Those of streams are odd, those of
// datagrams even, so that neither can be said again as the other: a receiver counts what it took of
// each by itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <string_view>

namespace lifering::wire {

/// What a life at an address is asked to echo in a period of time. A function of these under a
/// secret that was drawn when this object was made, so that nothing is kept for strangers, and
/// nobody can know a number before it was sent. Not thread-safe.
class challenger {
 public:
  challenger();
  ~challenger();
  challenger(const challenger&) = delete;
  challenger& operator=(const challenger&) = delete;

  /// Even, and never 0, which is no challenge.
  std::uint64_t number_for(std::string_view name, std::uint64_t epoch, const endpoint& at,
                           std::uint64_t period) const;

  /// Whether this is the number of the period or of the one before it.
  bool is_echo(std::uint64_t echo, std::string_view name, std::uint64_t epoch, const endpoint& at,
               std::uint64_t period) const;

  /// For a stream, whose two ends draw a number each: at random, odd.
  static std::uint64_t draw();

  /// Whether a number, if it is one, was drawn for a stream.
  static bool is_for_stream(std::uint64_t number) noexcept { return number % 2 == 1; }

 private:
  std::array<std::uint8_t, 32> secret_{};
};

}  // namespace lifering::wire
