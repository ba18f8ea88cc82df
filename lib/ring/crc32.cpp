// CRC-32 by tables, the portable way, and the choice among all ways.
#include "ring/crc32.hpp"

#include <array>
#include <atomic>
#include <lifering/hash.hpp>

#include "ring/crc32_table.hpp"

namespace lifering::ring_detail {

namespace {

std::uint32_t sliced(std::uint32_t crc, const char* bytes, std::size_t size) {
  const auto& t = crc32_tables;
  std::uint32_t state = ~crc;
  for (; size >= 8; size -= 8, bytes += 8) {
    const std::uint32_t low = load_little<std::uint32_t>(bytes) ^ state;
    const std::uint32_t high = load_little<std::uint32_t>(bytes + 4);
    state = t[7][low & 0xff] ^ t[6][(low >> 8) & 0xff] ^ t[5][(low >> 16) & 0xff] ^
            t[4][low >> 24] ^ t[3][high & 0xff] ^ t[2][(high >> 8) & 0xff] ^
            t[1][(high >> 16) & 0xff] ^ t[0][high >> 24];
  }
  for (; size > 0; --size, ++bytes) {
    state = crc32_byte(state, static_cast<unsigned char>(*bytes));
  }
  return ~state;
}

std::uint32_t sliced_hash(std::string_view key) {
  return sliced(0, key.data(), key.size());
}

void sliced_many(const std::string_view* keys, std::size_t count, std::uint32_t* crcs) {
  for (std::size_t i = 0; i < count; ++i) {
    crcs[i] = sliced(0, keys[i].data(), keys[i].size());
  }
}

const crc32_path& choose() noexcept {
  for (const crc32_path& path : crc32_paths()) {
    if (path.supported()) {
      return path;
    }
  }
  return crc32_sliced;
}

}  // namespace

constinit const crc32_path crc32_sliced{"sliced", sliced, sliced_hash, sliced_many,
                                        []() noexcept { return true; }};

std::span<const crc32_path> crc32_paths() noexcept {
  static const std::array paths {
#if defined(__x86_64__)
    crc32_x86_wide, crc32_x86,
#elif defined(__aarch64__)
    crc32_arm,
#endif
        crc32_sliced
  };
  return paths;
}

const crc32_path& crc32_best() noexcept {
  static const crc32_path& best = choose();
  return best;
}

namespace {

std::uint32_t first_call(std::uint32_t crc, const char* bytes, std::size_t size);

// The way in use. It starts as a function that chooses, so that a hash is right even inside
// another file's static initialisation; every thread that chooses chooses the same.
constinit std::atomic<crc32_function> in_use{first_call};

std::uint32_t first_call(std::uint32_t crc, const char* bytes, std::size_t size) {
  const crc32_function best = crc32_best().run;
  in_use.store(best, std::memory_order_relaxed);
  return best(crc, bytes, size);
}

}  // namespace

}  // namespace lifering::ring_detail

namespace lifering {

std::uint32_t crc32(std::string_view bytes) noexcept {
  return ring_detail::in_use.load(std::memory_order_relaxed)(0, bytes.data(), bytes.size());
}

std::uint32_t crc32_append(std::uint32_t crc, std::string_view bytes) noexcept {
  return ring_detail::in_use.load(std::memory_order_relaxed)(crc, bytes.data(), bytes.size());
}

}  // namespace lifering
