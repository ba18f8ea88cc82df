// Readers of a foreign ring beside its writer: whole states, as with our own placements.
#include <atomic>
#include <lifering/compat.hpp>
#include <thread>

#include "ring/ring_support.hpp"
#include "support/catch.hpp"

using namespace ring_test;
namespace compat = lifering::compat;

TEST_CASE("a reader of a foreign ring sees whole states while it is replaced", "[compat]") {
  for (const char* text : {"nginx", "haproxy:number=name", "envoy_ring:min=64,max=64",
                           "maglev:size=101", "redis_slots"}) {
    hash_ring ring = ring_of(compat::parse(text), address_nodes(5));
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> faults{0};
    std::atomic<std::uint64_t> looks{0};
    std::thread reader{[&] {
      const auto keys = some_keys(64);
      for (std::size_t i = 0; !over; ++i) {
        const std::string& key = keys[i % keys.size()];
        const auto view = ring.view();
        const ring_node* owner = view.owner(key);
        const bool whole = owner != nullptr && view.owner_at(view.place(key)) == owner &&
                           view.find(owner->name) == owner && view.owners(key, 2)[0] == owner;
        faults += whole ? 0U : 1U;
        ++looks;
      }
    }};
    std::uint64_t changes = 0;
    while (changes < 200 || looks < 200) {
      const std::string name = "10.1.0." + std::to_string(changes % 7) + ":80";
      std::error_code error;
      if (!ring.add({name}, error).changed) {
        ring.remove(name);
      }
      ++changes;
    }
    over = true;
    reader.join();
    CHECK(faults == 0);
  }
}
