// CRC-32: known values, and every way to compute it against the plainest one.
#include <lifering/hash.hpp>
#include <memory>

#include "ring/crc32.hpp"
#include "ring_support.hpp"
#include "support/catch.hpp"

namespace {

using lifering::crc32;
using lifering::crc32_append;
using lifering::ring_detail::crc32_path;
using lifering::ring_detail::crc32_paths;

// Bit by bit, from the definition.
std::uint32_t by_definition(std::uint32_t crc, std::string_view bytes) {
  std::uint32_t state = ~crc;
  for (const char c : bytes) {
    state ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) {
      state = (state >> 1) ^ ((state & 1) != 0 ? 0xedb8'8320U : 0);
    }
  }
  return ~state;
}

}  // namespace

TEST_CASE("CRC-32 is that of IEEE 802.3", "[ring][crc32]") {
  CHECK(crc32("123456789") == 0xcbf4'3926U);
  CHECK(crc32("") == 0);
  CHECK(crc32("a") == 0xe8b7'be43U);
  CHECK(crc32("The quick brown fox jumps over the lazy dog") == 0x414f'a339U);
  CHECK(crc32(std::string(32, '\0')) == 0x190a'55adU);
  CHECK(crc32(std::string(32, '\xff')) == 0xff6c'ab0bU);
}

TEST_CASE("a CRC can be continued", "[ring][crc32]") {
  ring_test::random_source random{1};
  const std::string text = random.bytes(300);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const std::string_view all = text;
    REQUIRE(crc32_append(crc32(all.substr(0, cut)), all.substr(cut)) == crc32(all));
  }
}

TEST_CASE("every way to compute a CRC agrees for each length to 4096 at each alignment",
          "[ring][crc32]") {
  ring_test::random_source random{2};
  const std::string text = random.bytes(4096 + 64);
  // The CRC of each length from each alignment, by the definition, a byte at a time.
  for (std::size_t alignment = 0; alignment < 64; ++alignment) {
    std::vector<std::uint32_t> expected{0};
    for (std::size_t size = 1; size <= 4096; ++size) {
      expected.push_back(by_definition(expected.back(), {text.data() + alignment + size - 1, 1}));
    }
    for (const crc32_path& path : crc32_paths()) {
      if (!path.supported()) {
        continue;
      }
      for (std::size_t size = 0; size <= 4096; ++size) {
        if (path.run(0, text.data() + alignment, size) != expected[size]) {
          FAIL(path.name << ": size " << size << ", alignment " << alignment);
        }
      }
    }
  }
}

TEST_CASE("every way to compute a CRC continues one", "[ring][crc32]") {
  ring_test::random_source random{3};
  const std::string text = random.bytes(1500);
  for (const crc32_path& path : crc32_paths()) {
    if (path.supported()) {
      CAPTURE(path.name);
      for (std::size_t size = 0; size <= text.size(); ++size) {
        const auto before = static_cast<std::uint32_t>(random.next());
        REQUIRE(path.run(before, text.data(), size) == by_definition(before, {text.data(), size}));
      }
    }
  }
}

TEST_CASE("the CRCs of keys, one by one and many at once, are those of each", "[ring][crc32]") {
  ring_test::random_source random{4};
  std::vector<std::string> texts;
  for (std::size_t size = 0; size < 600; ++size) {
    texts.push_back(random.bytes(size));
  }
  const std::vector<std::string_view> keys{texts.begin(), texts.end()};
  for (const crc32_path& path : crc32_paths()) {
    if (path.supported()) {
      CAPTURE(path.name);
      std::vector<std::uint32_t> crcs(keys.size());
      path.run_many(keys.data(), keys.size(), crcs.data());
      for (std::size_t i = 0; i < keys.size(); ++i) {
        REQUIRE(crcs[i] == by_definition(0, keys[i]));
        REQUIRE(path.hash(keys[i]) == crcs[i]);
      }
    }
  }
}

TEST_CASE("no way to compute a CRC reads outside the bytes", "[ring][crc32]") {
  // Each text fills an allocation of its own, so that AddressSanitizer sees a byte too many.
  for (const crc32_path& path : crc32_paths()) {
    if (path.supported()) {
      for (std::size_t size = 1; size < 700; ++size) {
        const auto exact = std::make_unique<char[]>(size);
        const std::uint32_t expected = by_definition(0, std::string(size, '\0'));
        REQUIRE(path.run(0, exact.get(), size) == expected);
        REQUIRE(path.hash({exact.get(), size}) == expected);
      }
    }
  }
}

TEST_CASE("the hardware's way is taken where the processor has it", "[ring][crc32]") {
  REQUIRE(!crc32_paths().empty());
  CHECK(crc32_paths().back().supported());
  CHECK(std::string{crc32_paths().back().name} == "sliced");
#if defined(__x86_64__)
  if (__builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1")) {
    CHECK(std::string{lifering::ring_detail::crc32_best().name} != "sliced");
  }
#endif
}

TEST_CASE("the finaliser is a bijection", "[ring][crc32]") {
  // Of 2^32 values a test can't try all, but it can invert: each step undone in turn.
  const auto inverse = [](std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x7ed1'b41dU;
    x ^= (x >> 13) ^ (x >> 26);
    x *= 0xa5cb'9243U;
    x ^= x >> 16;
    return x;
  };
  ring_test::random_source random{5};
  for (int i = 0; i < 100'000; ++i) {
    const auto value = static_cast<std::uint32_t>(random.next());
    REQUIRE(inverse(lifering::mix32(value)) == value);
  }
  STATIC_REQUIRE(lifering::mix32(0) == 0);
  STATIC_REQUIRE(lifering::mix32(1) == 0x514e'28b7U);
}
