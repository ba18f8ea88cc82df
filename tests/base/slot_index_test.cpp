// The index of slots, against a map.
#include "base/slot_index.hpp"

#include <cstdint>
#include <map>
#include <vector>

#include "base/rng.hpp"
#include "support/catch.hpp"

using lifering::base::rng;
using lifering::base::slot_index;

TEST_CASE("An index of slots finds what a map finds, while things come and go", "[base]") {
  // Few different hashes make long runs, which gaps and the table's end cut through.
  const std::uint64_t hashes = GENERATE(7U, 60U, 1'000'000U);
  rng random(hashes);
  slot_index index;
  std::map<std::uint32_t, std::uint64_t> twin;  // By slot, what stands there.
  std::vector<std::uint64_t> content(200);
  // Of those with one home, some have the same high bits and some have others.
  const auto hash_of = [&](std::uint32_t slot) {
    return content[slot] % hashes | content[slot] % 3 << 56U;
  };
  for (int i = 0; i < 20'000; ++i) {
    const auto slot = static_cast<std::uint32_t>(random.below(content.size()));
    if (twin.contains(slot)) {
      index.erase(slot, hash_of);
      twin.erase(slot);
    } else {
      content[slot] = random.below(UINT64_MAX);
      index.insert(slot, hash_of);
      twin[slot] = content[slot];
    }
    const auto sought = static_cast<std::uint32_t>(random.below(content.size()));
    const auto found = index.find(hash_of(sought), [&](auto each) { return each == sought; });
    REQUIRE(found == (twin.contains(sought) ? sought : slot_index::none));
  }
}
