// Options with another system's placement.
#include <lifering/compat.hpp>
#include <lifering/options.hpp>

#include "support/catch.hpp"

using lifering::errc;
using lifering::options;
namespace compat = lifering::compat;

namespace {

options valid() {
  auto result = options::lan();
  result.name = "10.0.0.1:80";
  result.cluster = "test";
  return result;
}

}  // namespace

TEST_CASE("a member that the other system couldn't have doesn't start", "[options]") {
  auto given = valid();
  compat::nginx nginx;
  given.placement = nginx.placement();
  CHECK_FALSE(given.validate());
  given.weight = *lifering::weight::parse("0.5");
  REQUIRE(given.validate());
  CHECK(given.validate()->code == errc::invalid_weight);
  nginx.unit = 10;
  given.placement = nginx.placement();
  CHECK_FALSE(given.validate());

  given.placement = compat::parse("haproxy:key=addr-port");
  given.weight = {};
  CHECK_FALSE(given.validate());
  given.name = "cache-1";
  REQUIRE(given.validate());
  CHECK(given.validate()->code == errc::invalid_placement);
  CHECK(given.validate()->text.find("\"cache-1\" is no address") != std::string::npos);
}

TEST_CASE("impossible parameters of another system's placement are found before the start",
          "[options]") {
  auto given = valid();
  given.placement = compat::kafka{}.placement();
  REQUIRE(given.validate());
  CHECK(given.validate()->text == "kafka: partitions is 0; use 1 to 1000000");
  given.placement = compat::parse("kafka:partitions=12");
  CHECK_FALSE(given.validate());
  given.placement.vnodes = 40;
  CHECK(given.validate());
}
