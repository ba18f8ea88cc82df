#include "base/seldom.hpp"

#include <string>
#include <utility>

#include "support/catch.hpp"

using text = lifering::base::seldom<std::string>;

TEST_CASE("What is seldom there takes the room of a pointer, and is its default meanwhile",
          "[base]") {
  STATIC_REQUIRE(sizeof(text) == sizeof(void*));
  const text nothing;
  CHECK(nothing->empty());
  CHECK(nothing == text());
}

TEST_CASE("A copy of what is seldom there is one of the value", "[base]") {
  text first;
  first = std::string("here");
  text second = first;
  CHECK(second == first);
  second = std::string("there");
  CHECK(*first == "here");
  CHECK(*second == "there");
  first = second;
  CHECK(*first == "there");
  const text third = std::move(first);
  CHECK(*third == "there");
}

TEST_CASE("What becomes its default again takes no more than if it had never been anything else",
          "[base]") {
  text value;
  value = std::string("here");
  value = std::string();
  CHECK(value->empty());
  CHECK(value == text());
  CHECK(&*value == &*text());  // The one default that all have.
}
