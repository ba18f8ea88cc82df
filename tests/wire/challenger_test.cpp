// The numbers that prove a life: nobody can know them, and they hold for a while only.
#include "wire/challenger.hpp"

#include <algorithm>
#include <set>

#include "support/catch.hpp"

using lifering::endpoint;
using lifering::wire::challenger;

namespace {

const endpoint here = *endpoint::parse("10.0.0.1:7946");

}  // namespace

TEST_CASE("A challenge is answered by its echo in its period and the next", "[wire][seal]") {
  const challenger by;
  const auto number = by.number_for("a", 1, here, 10);
  CHECK(by.is_echo(number, "a", 1, here, 10));
  CHECK(by.is_echo(number, "a", 1, here, 11));
  CHECK_FALSE(by.is_echo(number, "a", 1, here, 12));
  CHECK_FALSE(by.is_echo(number, "a", 1, here, 9));
}

TEST_CASE("A challenge is one life's at one address, and of one who asks", "[wire][seal]") {
  const challenger by;
  const auto number = by.number_for("a", 1, here, 10);
  CHECK_FALSE(by.is_echo(number, "b", 1, here, 10));
  CHECK_FALSE(by.is_echo(number, "a", 2, here, 10));
  CHECK_FALSE(by.is_echo(number, "a", 1, *endpoint::parse("10.0.0.1:7947"), 10));
  CHECK_FALSE(by.is_echo(number, "a", 1, *endpoint::parse("10.0.0.2:7946"), 10));
  CHECK_FALSE(challenger().is_echo(number, "a", 1, here, 10));
  CHECK_FALSE(by.is_echo(0, "a", 1, here, 10));
}

TEST_CASE("The numbers of datagrams are even", "[wire][seal]") {
  const challenger by;
  for (std::uint64_t period = 1; period <= 100; ++period)
    CHECK_FALSE(challenger::is_for_stream(by.number_for("a", 1, here, period)));
}

TEST_CASE("Numbers that are drawn for streams differ, and are odd", "[wire][seal]") {
  std::set<std::uint64_t> drawn;
  for (int i = 0; i < 1'000; ++i)
    drawn.insert(challenger::draw());
  CHECK(drawn.size() == 1'000);
  CHECK(std::all_of(drawn.begin(), drawn.end(), challenger::is_for_stream));
}
