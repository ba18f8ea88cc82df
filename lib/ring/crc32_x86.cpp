// CRC-32 by carry-less multiplication on x86-64, after Gopal et al., "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ Instruction" (Intel, 2009), for bit-reflected data.
//
// A message is a polynomial whose first byte has the highest powers; zeros before it change
// nothing. So a short key is put right-aligned into one register and reduced at once, and a long
// one begins with its odd bytes, after which only whole blocks of 16 remain.
#if defined(__x86_64__)

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the deliberately undefined operands inside its own AVX-512 intrinsics for mistakes.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include <array>

#include "ring/crc32.hpp"
#include "ring/crc32_table.hpp"

#define LIFERING_TARGET_FOLD __attribute__((target("pclmul,ssse3,sse4.1")))
#define LIFERING_TARGET_WIDE \
  __attribute__((target("pclmul,ssse3,sse4.1,avx512f,avx512vl,vpclmulqdq")))
#define LIFERING_INLINE __attribute__((always_inline)) inline

namespace lifering::ring_detail {

namespace {

// x^n modulo the polynomial, bit-reflected, and one bit up, as a product of reflected numbers comes
// out one bit too low.
constexpr long long power(unsigned n) {
  std::uint32_t value = 0x8000'0000U;
  for (; n > 0; --n) {
    value = (value >> 1) ^ ((value & 1) != 0 ? crc32_polynomial : 0);
  }
  return static_cast<long long>(value) << 1;
}
static_assert(power(64) == 0x1'63cd'6124, "as in the paper");

// Multipliers that carry the two halves of a block over `bits` of message.
constexpr long long early_half(unsigned bits) {
  return power(bits + 32);
}
constexpr long long late_half(unsigned bits) {
  return power(bits - 32);
}
static_assert(early_half(512) == 0x1'5444'2bd4 && late_half(512) == 0x1'c6e4'1596,
              "as in the paper");

constexpr std::uint64_t polynomial = 0x1'db71'0641;  // With its 33rd bit, reflected.

// The inverse of the reflected polynomial modulo x^64: times this, without carries, is 1.
constexpr std::uint64_t inverse = [] {
  std::uint64_t result = 0;
  std::uint64_t product = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if (((product >> bit) & 1) != (bit == 0 ? 1 : 0)) {
      result |= std::uint64_t{1} << bit;
      product ^= polynomial << bit;
    }
  }
  return result;
}();

// The inverted CRC of n zero bytes: what the start value and the end inversion amount to.
constexpr auto ends = [] {
  std::array<std::uint32_t, 17> result{};
  std::uint32_t state = ~std::uint32_t{0};
  for (auto& value : result) {
    value = ~state;
    state = crc32_byte(state, 0);
  }
  return result;
}();

// Loaded at offset m: a shuffle that moves the first m bytes to the end of a register, zeros before
// them; at offset 16 + m: one that drops the first m bytes, zeros behind.
alignas(64) constexpr auto slides = [] {
  std::array<char, 48> result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = i >= 16 && i < 32 ? static_cast<char>(i - 16) : static_cast<char>(-128);
  }
  return result;
}();

LIFERING_TARGET_FOLD LIFERING_INLINE __m128i load(const char* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

LIFERING_TARGET_FOLD LIFERING_INLINE __m128i slide(__m128i value, std::size_t offset) {
  return _mm_shuffle_epi8(value, load(slides.data() + offset));
}

LIFERING_TARGET_FOLD LIFERING_INLINE __m128i fold(__m128i value, __m128i multipliers,
                                                  __m128i next) {
  return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(value, multipliers, 0x00),
                                     _mm_clmulepi64_si128(value, multipliers, 0x11)),
                       next);
}

// The remainder of a polynomial W of 96 bits, reflected: W = Q P + R. Reflected, R comes after the
// 64 bits of Q, so the low 64 bits of W are those of Q P alone, and give Q by the inverse of P. Two
// multiplications, where Barrett's way takes three.
LIFERING_TARGET_FOLD LIFERING_INLINE std::uint32_t remainder(__m128i value) {
  const __m128i constants =
      _mm_set_epi64x(static_cast<long long>(polynomial), static_cast<long long>(inverse));
  const __m128i multiple =
      _mm_clmulepi64_si128(_mm_clmulepi64_si128(value, constants, 0x00), constants, 0x10);
  return static_cast<std::uint32_t>(_mm_extract_epi32(_mm_xor_si128(value, multiple), 2));
}

// A block of 16 bytes, with the 32 zero bits that a CRC is followed by.
LIFERING_TARGET_FOLD LIFERING_INLINE std::uint32_t reduce(__m128i value) {
  const __m128i multiplier = _mm_cvtsi64_si128(late_half(128));
  return remainder(
      _mm_xor_si128(_mm_clmulepi64_si128(value, multiplier, 0x00), _mm_srli_si128(value, 8)));
}

// Up to 16 bytes from the start value. Loads overlap instead of reading past either end.
LIFERING_TARGET_FOLD LIFERING_INLINE std::uint32_t short_key(const char* bytes, std::size_t size) {
  if (size >= 8) {
    const auto early = load_little<std::uint64_t>(bytes);
    const auto late = load_little<std::uint64_t>(bytes + size - 8);
    const auto half = static_cast<unsigned>(4 * (16 - size));  // Twice, as 64 is no shift.
    const __m128i value =
        _mm_set_epi64x(static_cast<long long>(late), static_cast<long long>(early << half << half));
    return reduce(value) ^ ends[size];
  }
  if (size >= 4) {
    const std::uint64_t early = load_little<std::uint32_t>(bytes);
    const std::uint64_t late = load_little<std::uint32_t>(bytes + size - 4);
    const std::uint64_t value = (late << 32) | ((early << (8 * (8 - size))) & 0xffff'ffffU);
    return remainder(_mm_cvtsi64_si128(static_cast<long long>(value))) ^ ends[size];
  }
  std::uint32_t state = ~std::uint32_t{0};
  for (std::size_t i = 0; i < size; ++i) {
    state = crc32_byte(state, static_cast<unsigned char>(bytes[i]));
  }
  return ~state;
}

// A message on its way: `value` stands for all bytes before `next`, and `carry` is still to be
// added to the block at `next`. A multiple of 16 bytes is left.
struct progress {
  __m128i value;
  __m128i carry;
  const char* next;
  std::size_t left;
};

// More than 16 bytes: takes in 1 to 16 of them.
LIFERING_TARGET_FOLD LIFERING_INLINE progress begin(std::uint32_t crc, const char* bytes,
                                                    std::size_t size) {
  const std::size_t odd = ((size - 1) & 15) + 1;
  const __m128i start = _mm_cvtsi32_si128(static_cast<int>(~crc));
  return {slide(_mm_xor_si128(load(bytes), start), odd), slide(start, 16 + odd), bytes + odd,
          size - odd};
}

LIFERING_TARGET_FOLD LIFERING_INLINE std::uint32_t end(progress p) {
  const __m128i by_1 = _mm_set_epi64x(late_half(128), early_half(128));
  for (; p.left != 0; p.left -= 16, p.next += 16) {
    p.value = fold(p.value, by_1, _mm_xor_si128(load(p.next), p.carry));
    p.carry = _mm_setzero_si128();
  }
  return ~reduce(p.value);
}

// Four blocks at a time, which hides the latency of the multiplier.
LIFERING_TARGET_FOLD LIFERING_INLINE progress by_four(progress p) {
  if (p.left < 112) {
    return p;
  }
  const __m128i by_4 = _mm_set_epi64x(late_half(512), early_half(512));
  const __m128i by_1 = _mm_set_epi64x(late_half(128), early_half(128));
  __m128i a = p.value;
  __m128i b = _mm_xor_si128(load(p.next), p.carry);
  __m128i c = load(p.next + 16);
  __m128i d = load(p.next + 32);
  p.next += 48;
  p.left -= 48;
  for (; p.left >= 64; p.left -= 64, p.next += 64) {
    a = fold(a, by_4, load(p.next));
    b = fold(b, by_4, load(p.next + 16));
    c = fold(c, by_4, load(p.next + 32));
    d = fold(d, by_4, load(p.next + 48));
  }
  return {fold(fold(fold(a, by_1, b), by_1, c), by_1, d), _mm_setzero_si128(), p.next, p.left};
}

LIFERING_TARGET_FOLD std::uint32_t folded(std::uint32_t crc, const char* bytes, std::size_t size) {
  if (size <= 16) {
    return crc == 0 ? short_key(bytes, size) : crc32_sliced.run(crc, bytes, size);
  }
  return end(by_four(begin(crc, bytes, size)));
}

LIFERING_TARGET_FOLD void folded_many(const std::string_view* keys, std::size_t count,
                                      std::uint32_t* crcs) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = keys[i].size();
    crcs[i] = size <= 16 ? short_key(keys[i].data(), size) : folded(0, keys[i].data(), size);
  }
}

LIFERING_TARGET_WIDE LIFERING_INLINE __m512i wide_load(const char* bytes) {
  return _mm512_loadu_si512(bytes);
}

LIFERING_TARGET_WIDE LIFERING_INLINE __m512i wide_fold(__m512i value, __m512i multipliers,
                                                       __m512i next) {
  constexpr int xor_of_three = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(value, multipliers, 0x00),
                                   _mm512_clmulepi64_epi128(value, multipliers, 0x11), next,
                                   xor_of_three);
}

// Sixteen blocks at a time, four to a register.
LIFERING_TARGET_WIDE LIFERING_INLINE progress by_sixteen(progress p) {
  const __m512i by_16 = _mm512_broadcast_i32x4(_mm_set_epi64x(late_half(2048), early_half(2048)));
  const __m512i by_4 = _mm512_broadcast_i32x4(_mm_set_epi64x(late_half(512), early_half(512)));
  const __m128i by_1 = _mm_set_epi64x(late_half(128), early_half(128));
  __m512i a = _mm512_castsi128_si512(p.value);
  a = _mm512_inserti32x4(a, _mm_xor_si128(load(p.next), p.carry), 1);
  a = _mm512_inserti32x4(a, load(p.next + 16), 2);
  a = _mm512_inserti32x4(a, load(p.next + 32), 3);
  __m512i b = wide_load(p.next + 48);
  __m512i c = wide_load(p.next + 112);
  __m512i d = wide_load(p.next + 176);
  p.next += 240;
  p.left -= 240;
  for (; p.left >= 256; p.left -= 256, p.next += 256) {
    a = wide_fold(a, by_16, wide_load(p.next));
    b = wide_fold(b, by_16, wide_load(p.next + 64));
    c = wide_fold(c, by_16, wide_load(p.next + 128));
    d = wide_fold(d, by_16, wide_load(p.next + 192));
  }
  a = wide_fold(wide_fold(wide_fold(a, by_4, b), by_4, c), by_4, d);
  for (; p.left >= 64; p.left -= 64, p.next += 64) {
    a = wide_fold(a, by_4, wide_load(p.next));
  }
  __m128i value = fold(_mm512_extracti32x4_epi32(a, 0), by_1, _mm512_extracti32x4_epi32(a, 1));
  value = fold(value, by_1, _mm512_extracti32x4_epi32(a, 2));
  value = fold(value, by_1, _mm512_extracti32x4_epi32(a, 3));
  return {value, _mm_setzero_si128(), p.next, p.left};
}

LIFERING_TARGET_WIDE std::uint32_t wide_run(std::uint32_t crc, const char* bytes,
                                            std::size_t size) {
  return end(by_sixteen(begin(crc, bytes, size)));
}

// Below this size filling and emptying the wide registers costs more than it saves.
constexpr std::size_t wide_from = 256;

LIFERING_TARGET_FOLD std::uint32_t wide(std::uint32_t crc, const char* bytes, std::size_t size) {
  return size < wide_from ? folded(crc, bytes, size) : wide_run(crc, bytes, size);
}

LIFERING_TARGET_FOLD void wide_many(const std::string_view* keys, std::size_t count,
                                    std::uint32_t* crcs) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = keys[i].size();
    crcs[i] = size <= 16 ? short_key(keys[i].data(), size) : wide(0, keys[i].data(), size);
  }
}

LIFERING_TARGET_FOLD std::uint32_t folded_hash(std::string_view key) {
  return key.size() <= 16 ? short_key(key.data(), key.size()) : folded(0, key.data(), key.size());
}

LIFERING_TARGET_FOLD std::uint32_t wide_hash(std::string_view key) {
  return key.size() <= 16 ? short_key(key.data(), key.size()) : wide(0, key.data(), key.size());
}

bool has_fold() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3") &&
         __builtin_cpu_supports("sse4.1");
}

bool has_wide() noexcept {
  return has_fold() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("vpclmulqdq");
}

}  // namespace

constinit const crc32_path crc32_x86_wide{"vpclmulqdq", wide, wide_hash, wide_many, has_wide};
constinit const crc32_path crc32_x86{"pclmulqdq", folded, folded_hash, folded_many, has_fold};

}  // namespace lifering::ring_detail

#endif  // __x86_64__
