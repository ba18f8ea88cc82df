// Numbers that packets echo for a while.
#include "net/recent_echoes.hpp"

#include <chrono>
#include <string>

#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::net;
using namespace std::chrono_literals;

namespace {

constexpr base::time_point start{std::chrono::hours(1)};

endpoint at(unsigned last) {
  return *endpoint::parse("10.0.0." + std::to_string(last) + ":7946");
}

}  // namespace

TEST_CASE("Packets echo the last number that their peer asked for, for two seconds", "[seal]") {
  recent_echoes echoes;
  CHECK(echoes.number_for(at(1), start) == 0);
  echoes.add(at(1), 11, start);
  echoes.add(at(2), 22, start + 1s);
  echoes.add(at(1), 33, start + 1500ms);
  CHECK(echoes.number_for(at(1), start + 1500ms) == 33);
  CHECK(echoes.number_for(at(2), start + 3000ms) == 22);
  CHECK(echoes.number_for(at(2), start + 3001ms) == 0);
  CHECK(echoes.number_for(at(1), start + 3500ms) == 33);
  CHECK(echoes.number_for(at(1), start + 3501ms) == 0);
  CHECK(echoes.number_for(at(3), start + 1500ms) == 0);
}

TEST_CASE("Thirty-two numbers are kept, and the newest ones", "[seal]") {
  recent_echoes echoes;
  for (unsigned i = 1; i <= 33; ++i)
    echoes.add(at(i), i, start);
  CHECK(echoes.number_for(at(1), start) == 0);
  for (unsigned i = 2; i <= 33; ++i)
    CHECK(echoes.number_for(at(i), start) == i);
}
