// Whose connections are taken when places are few.
#include "net/member_sources.hpp"

#include <memory>
#include <string>
#include <vector>

#include "net/source.hpp"
#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::net;
using namespace std::chrono_literals;

namespace {

constexpr base::time_point start{std::chrono::hours(1)};

swim::record life_of(const std::string& name, const std::string& at) {
  swim::record made;
  made.name = name;
  made.epoch = swim::make_epoch(1, 1);
  made.incarnation = 1;
  made.address = *endpoint::parse(at);
  return made;
}

endpoint source(const std::string& address) {
  return source_of(*endpoint::parse(address));
}

void add(swim::protocol& to, const swim::record& life) {
  const std::vector<swim::record_ptr> all{std::make_shared<const swim::record>(life)};
  to.adopt_view(start, all);
}

}  // namespace

TEST_CASE("A member's address is one from whatever port, an IPv6 one with its whole network") {
  swim::protocol machine({}, life_of("us", "10.0.0.1:7946"), base::rng(1), start);
  add(machine, life_of("four", "10.0.0.2:7946"));
  add(machine, life_of("six", "[2001:db8:0:1::5]:7946"));
  member_sources known;
  CHECK(known.contains(source("10.0.0.2:50000"), machine, start));
  CHECK(known.contains(source("[2001:db8:0:1::6]:50000"), machine, start));
  CHECK_FALSE(known.contains(source("10.0.0.3:7946"), machine, start));
  CHECK_FALSE(known.contains(source("[2001:db8:0:2::5]:7946"), machine, start));
}

TEST_CASE(
    "Who has become a member is known as one a second later at most, and not asked for sooner") {
  swim::protocol machine({}, life_of("us", "10.0.0.1:7946"), base::rng(1), start);
  member_sources known;
  CHECK_FALSE(known.contains(source("10.0.0.2:7946"), machine, start));
  add(machine, life_of("late", "10.0.0.2:7946"));
  CHECK_FALSE(known.contains(source("10.0.0.2:7946"), machine, start + 999ms));
  CHECK(known.contains(source("10.0.0.2:7946"), machine, start + 1s));
}
