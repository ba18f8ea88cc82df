// How many of eight ascending numbers are below another, without a branch.
#pragma once

#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lifering::ring_detail {

// How many of the first `count` of eight ascending entries are below `sought`. Without a branch:
// which entry it is can't be predicted, and a wrong guess costs more than all of this.
#if defined(__SSE2__)
inline std::uint32_t count_below(const std::uint32_t* entries, std::uint32_t count,
                                 std::uint32_t sought) noexcept {
  // SSE2 compares signed numbers; flipping the top bits turns the order of unsigned ones into it.
  const __m128i flip = _mm_set1_epi32(std::bit_cast<int>(0x8000'0000U));
  const __m128i limit = _mm_xor_si128(_mm_set1_epi32(std::bit_cast<int>(sought)), flip);
  const auto* lanes = reinterpret_cast<const __m128i*>(entries);
  const __m128i low = _mm_cmplt_epi32(_mm_xor_si128(_mm_loadu_si128(lanes), flip), limit);
  const __m128i high = _mm_cmplt_epi32(_mm_xor_si128(_mm_loadu_si128(lanes + 1), flip), limit);
  const __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(low, high), _mm_setzero_si128());
  const auto below = static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
  // Ascending entries set a prefix of the bits; those past `count` belong to other buckets.
  return static_cast<std::uint32_t>(std::countr_one(below & ((1U << count) - 1)));
}
#else
inline std::uint32_t count_below(const std::uint32_t* entries, std::uint32_t count,
                                 std::uint32_t sought) noexcept {
  std::uint32_t below = 0;
  for (std::uint32_t lane = 0; lane < 8; ++lane) {
    below += static_cast<std::uint32_t>((lane < count) & (entries[lane] < sought));
  }
  return below;
}
#endif

}  // namespace lifering::ring_detail
