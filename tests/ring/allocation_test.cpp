// What the ring takes from the heap: nothing for a lookup; and what a change leaves behind when the
// heap has no more, wherever in the change that happens.
#include <array>
#include <cstdlib>
#include <functional>
#include <new>

#include "ring/ring_support.hpp"
#include "support/catch.hpp"

namespace {

std::size_t allocations = 0;
std::size_t allocations_end = ~std::size_t{0};  // From here on they fail.

void* take(std::size_t size, std::size_t alignment) {
  if (allocations++ >= allocations_end) {
    throw std::bad_alloc();
  }
  void* const made = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  return made != nullptr ? made : throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) {
  return take(size == 0 ? 1 : size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return take(size, static_cast<std::size_t>(alignment));
}
// AddressSanitizer has one of its own, which would not go with our delete.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

using namespace ring_test;

TEST_CASE("a lookup takes nothing from the heap", "[ring]") {
  for (const placement_options& placement : all_placements()) {
    auto nodes = address_nodes(40);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i].zone = "zone-" + std::to_string(i % 3);
    }
    const hash_ring ring = ring_of(placement, nodes);
    const auto texts = some_keys(100);
    const std::vector<std::string_view> keys(texts.begin(), texts.end());
    std::vector<const ring_node*> owners(keys.size());
    std::array<const ring_node*, 3> three{};
    const auto load = [](const ring_node&) { return std::uint64_t{0}; };
    static_cast<void>(ring.view());  // The thread's first, which registers it.

    const std::size_t before = allocations;
    std::size_t found = 0;
    for (const std::string_view key : keys) {
      const auto view = ring.view();
      const ring_node* owner = view.owner(key);
      found += view.owns(owner->name, key) && view.owner_at(view.place(key)) == owner ? 1U : 0U;
      found += view.pick(key, load, 0, 1250) == owner ? 1U : 0U;
      found += view.find(owner->name) == owner ? 1U : 0U;
      // Sixteen nodes or fewer nearly always hold three zones.
      found += view.owners(key, std::span{three}.first(1)) == 1 && three[0] == owner ? 1U : 0U;
    }
    ring.view().owner(keys, owners);
    const std::size_t after = allocations;
    CHECK(found == 4 * keys.size());
    CHECK(after == before);
  }
}

TEST_CASE("a change that finds no memory leaves the ring as it was", "[ring]") {
  const std::vector<std::pair<const char*, std::function<void(hash_ring&)>>> changes{
      {"add", [](hash_ring& ring) { ring.add({"a newcomer with a long name"}); }},
      {"remove", [](hash_ring& ring) { ring.remove("10.0.0.7:6379"); }},
      {"set_weight", [](hash_ring& ring) { ring.set_weight("10.0.0.7:6379", weight_of(3000)); }},
      {"assign", [](hash_ring& ring) { ring.assign(address_nodes(60, 20)); }},
      {"reset", [](hash_ring& ring) { ring.reset(); }},
  };
  for (const placement_options& placement : all_placements()) {
    CAPTURE(to_string(placement.kind), placement.cap);
    for (const auto& [name, change] : changes) {
      CAPTURE(name);
      hash_ring ring = ring_of(placement, address_nodes(40));
      const auto view = ring.view();  // What is replaced is pinned, and must be kept somewhere.
      const auto kept = ring.snapshot();
      bool done = false;
      std::size_t failures = 0;
      while (!done) {
        allocations_end = allocations + failures;
        try {
          change(ring);
          done = true;
        } catch (const std::bad_alloc&) {
          ++failures;
        }
        allocations_end = ~std::size_t{0};
        if (!done) {
          REQUIRE(ring.view().version() == view.version());
          REQUIRE(ring.view().owner("key") == view.owner("key"));
          REQUIRE(same_ring(kept, ring.view()));
        }
      }
      CHECK(failures > 3);
      CHECK(ring.view().version() == view.version() + 1);
      CHECK(same_ring(kept, view));  // Still whole.
      ring.add({"another"});
      CHECK(same_ring(kept, view));
    }
  }
}
