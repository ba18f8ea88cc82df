// Weights: what they hold, and their text.
#include <lifering/weight.hpp>

#include "support/catch.hpp"

using lifering::weight;

TEST_CASE("a weight is 1 unless said otherwise", "[ring][weight]") {
  STATIC_REQUIRE(weight{}.thousandths() == 1000);
}

TEST_CASE("a weight is 0, or 0.01 to 100 and nothing beside", "[ring][weight]") {
  STATIC_REQUIRE(weight::from_thousandths(0).has_value());
  STATIC_REQUIRE(!weight::from_thousandths(1));
  STATIC_REQUIRE(!weight::from_thousandths(9));
  STATIC_REQUIRE(weight::from_thousandths(10)->thousandths() == 10);
  STATIC_REQUIRE(weight::from_thousandths(100'000)->thousandths() == 100'000);
  STATIC_REQUIRE(!weight::from_thousandths(100'001));
  STATIC_REQUIRE(!weight::from_thousandths(~std::uint64_t{0}));
}

TEST_CASE("a weight is read from a decimal with at most three places", "[ring][weight]") {
  struct row {
    const char* text;
    std::uint32_t thousandths;
  };
  for (const row& r :
       {row{"0", 0}, row{"0.000", 0}, row{"1", 1000}, row{"0.5", 500}, row{"12.345", 12'345},
        row{"100", 100'000}, row{"0.01", 10}, row{"007.10", 7100}}) {
    CAPTURE(r.text);
    REQUIRE(weight::parse(r.text).has_value());
    CHECK(weight::parse(r.text)->thousandths() == r.thousandths);
  }
}

TEST_CASE("no other text is a weight", "[ring][weight]") {
  for (const char* text :
       {"",      ".",     "1.",      ".5",  "-1",    "+1",     "1e2",
        " 1",    "1 ",    "0x1",     "1,5", "1.2.3", "0.0001", "1.2345",
        "0.001", "0.009", "100.001", "101", "nan",   "inf",    "99999999999999999999"}) {
    CAPTURE(text);
    CHECK(!weight::parse(text));
  }
}

TEST_CASE("a weight's text is the shortest that reads back", "[ring][weight]") {
  CHECK(to_string(weight{}) == "1");
  CHECK(to_string(*weight::from_thousandths(0)) == "0");
  CHECK(to_string(*weight::from_thousandths(10)) == "0.01");
  CHECK(to_string(*weight::from_thousandths(10'050)) == "10.05");
  for (std::uint32_t value = weight::thousandths_min; value <= weight::thousandths_max;
       value += 37) {
    const weight w = *weight::from_thousandths(value);
    REQUIRE(weight::parse(to_string(w)) == w);
  }
}

TEST_CASE("weights compare as numbers", "[ring][weight]") {
  CHECK(*weight::parse("0.5") < weight{});
  CHECK(*weight::parse("10") > *weight::parse("9.999"));
  CHECK(*weight::parse("1.0") == weight{});
}
