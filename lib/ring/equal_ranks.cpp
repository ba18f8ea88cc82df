#include "ring/equal_ranks.hpp"

#include <cstring>

#include "base/check.hpp"

namespace lifering::ring_detail {
namespace {

// Vector types rather than intrinsics, so that each compiler makes of them what the machine has.
constexpr std::size_t lanes = 8;
constexpr std::size_t vectors = equal_ranks_batch / lanes;
using words = std::uint32_t __attribute__((vector_size(lanes * 4)));
using signs = std::int32_t __attribute__((vector_size(lanes * 4)));

/// Ranks are below 2^22, so comparing them as signed numbers is right, and cheaper.
constexpr std::uint32_t beyond_all_ranks = 0x7fff'ffff;

__attribute__((always_inline)) inline void run(std::span<const permutation> orders, unsigned bits,
                                               segment_batch& batch) noexcept {
  const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
  const unsigned half = (bits + 1) / 2;
  words segment[vectors];
  words best[vectors];
  words winner[vectors];
  words tie[vectors];
  std::memcpy(segment, batch.segments, sizeof segment);
  for (std::size_t v = 0; v < vectors; ++v) {
    best[v] = words{} + beyond_all_ranks;
    winner[v] = words{};
    tie[v] = words{};
  }
  for (std::uint32_t node = 0; node < orders.size(); ++node) {
    const permutation& order = orders[node];
    for (std::size_t v = 0; v < vectors; ++v) {
      words x = (segment[v] ^ order.flips) & mask;  // permutation::rank(), in lanes
      x = (x * order.multipliers[0]) & mask;
      x ^= x >> half;
      x = (x * order.multipliers[1]) & mask;
      x ^= x >> half;
      x = (x * order.multipliers[2] + order.offset) & mask;
      const auto rank = reinterpret_cast<signs>(x);
      const auto least = reinterpret_cast<signs>(best[v]);
      const auto less = reinterpret_cast<words>(rank < least);
      const auto same = reinterpret_cast<words>(rank == least);
      best[v] = (x & less) | (best[v] & ~less);
      winner[v] = ((words{} + node) & less) | (winner[v] & ~less);
      tie[v] = (tie[v] | same) & ~less;
    }
  }
  std::memcpy(batch.ranks, best, sizeof best);
  std::memcpy(batch.winners, winner, sizeof winner);
  std::memcpy(batch.ties, tie, sizeof tie);
}

__attribute__((always_inline)) inline void run(const inverse_permutation& order, std::uint32_t rank,
                                               unsigned bits, std::uint32_t* segments) noexcept {
  const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
  const unsigned half = (bits + 1) / 2;
  const permutation& forward = order.forward();
  const auto& inverses = order.inverses();
  constexpr words steps{0, 1, 2, 3, 4, 5, 6, 7};
  for (std::size_t v = 0; v < vectors; ++v) {
    words x = steps + rank + static_cast<std::uint32_t>(v * lanes);  // segment(), in lanes
    x = ((x - forward.offset) * inverses[2]) & mask;
    x ^= x >> half;
    x = (x * inverses[1]) & mask;
    x ^= x >> half;
    x = ((x * inverses[0]) ^ forward.flips) & mask;
    std::memcpy(segments + v * lanes, &x, sizeof x);
  }
}

using decide = void (*)(std::span<const permutation>, unsigned, segment_batch&) noexcept;
using invert = void (*)(const inverse_permutation&, std::uint32_t, unsigned,
                        std::uint32_t*) noexcept;

void plain(std::span<const permutation> orders, unsigned bits, segment_batch& batch) noexcept {
  run(orders, bits, batch);
}
void plain(const inverse_permutation& order, std::uint32_t rank, unsigned bits,
           std::uint32_t* segments) noexcept {
  run(order, rank, bits, segments);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void avx2(std::span<const permutation> orders, unsigned bits,
                                          segment_batch& batch) noexcept {
  run(orders, bits, batch);
}

__attribute__((target("avx2"))) void avx2(const inverse_permutation& order, std::uint32_t rank,
                                          unsigned bits, std::uint32_t* segments) noexcept {
  run(order, rank, bits, segments);
}

template <class Function>
Function choose() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") ? static_cast<Function>(avx2)
                                        : static_cast<Function>(plain);
}
#else
template <class Function>
Function choose() noexcept {
  return plain;
}
#endif

}  // namespace

void decide_by_rank(std::span<const permutation> orders, unsigned bits,
                    segment_batch& batch) noexcept {
  static const decide best = choose<decide>();
  LIFERING_CHECK(!orders.empty());
  best(orders, bits, batch);
}

void segments_by_rank(const inverse_permutation& order, std::uint32_t rank, unsigned bits,
                      std::uint32_t (&segments)[equal_ranks_batch]) noexcept {
  static const invert best = choose<invert>();
  best(order, rank, bits, segments);
}

}  // namespace lifering::ring_detail
