#include "base/paged_slots.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/catch.hpp"

using lifering::base::paged_slots;

namespace {

constexpr std::size_t many = 10'000;  // They take several blocks.

std::string text_of(std::size_t i) {
  return "the text of slot " + std::to_string(i);
}

}  // namespace

TEST_CASE("What stands in a slot stays where it is while others are added", "[base]") {
  paged_slots<std::string, 4> slots;
  std::vector<const std::string*> places;
  for (std::size_t i = 0; i < many; ++i) {
    slots.emplace_back() = text_of(i);
    REQUIRE(slots.size() == i + 1);
    places.push_back(&slots[i]);
  }
  for (std::size_t i = 0; i < many; ++i) {
    REQUIRE(&slots[i] == places[i]);
    REQUIRE(slots[i] == text_of(i));
  }
}

TEST_CASE("Slots that are cleared or end have let go of what stood in them", "[base]") {
  const auto shared = std::make_shared<int>(1);
  const long many_uses = static_cast<long>(many) + 1;
  {
    paged_slots<std::shared_ptr<int>, 4> slots;
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < many; ++i)
        slots.emplace_back() = shared;
      CHECK(shared.use_count() == many_uses);
      slots.clear();
      CHECK(shared.use_count() == 1);
      CHECK(slots.size() == 0);
    }
    for (std::size_t i = 0; i < many; ++i) {
      REQUIRE(slots.emplace_back() == nullptr);
      slots[i] = shared;
    }
    CHECK(shared.use_count() == many_uses);
  }
  CHECK(shared.use_count() == 1);
}
