// nginx: 1687 recorded rows, and its traps.
#include <lifering/compat.hpp>

#include "ring/oracle_rows.hpp"

using namespace ring_test;
namespace compat = lifering::compat;

namespace {

/// `servers=NAME@WEIGHT[ down],...`; a server that is listed twice is a node of another name.
std::optional<answering_ring> nginx_ring(const oracle_config& config) {
  answering_ring result;
  compat::nginx options;
  options.method = config.value("method") == "hash" ? compat::nginx::methods::modulo
                                                    : compat::nginx::methods::consistent;
  for (const std::string& word : split(config.value("servers"), ',')) {
    const std::string text = word.substr(0, word.find(' '));
    const std::size_t at = text.rfind('@');
    const std::string server = text.substr(0, at);
    const bool is_down = word.ends_with(" down");
    std::string name = server;
    while (std::any_of(result.nodes.begin(), result.nodes.end(),
                       [&name](const ring_node& node) { return node.name == name; })) {
      name += "*";
    }
    options.order.push_back(name);
    options.ids.push_back({name, server});
    result.nodes.push_back({name, weight_of(is_down ? 0 : 1000 * std::stoul(text.substr(at + 1)))});
  }
  result.placement = options.placement();
  result.name_in_rows = [](const std::string& name) { return name.substr(0, name.find('*')); };
  return result;
}

}  // namespace

TEST_CASE("owners are nginx's in every row but those of its order of tries", "[compat]") {
  const auto make = [](const oracle_config& config) {
    return config.id == "failover" ? std::nullopt : nginx_ring(config);
  };
  CHECK(agree("nginx-hash-consistent.tsv", make) == agreement{1632, 55});
}

TEST_CASE("the order of preference is the order in which nginx tries servers", "[compat]") {
  std::size_t rows = 0;
  for (const oracle_config& config : read_oracle("nginx-hash-consistent.tsv")) {
    if (config.id != "failover") {
      continue;
    }
    const auto asked = nginx_ring(config);
    const hash_ring ring = ring_of(asked->placement, asked->nodes);
    for (const oracle_row& row : config.rows) {
      CHECK(ring.owners(row.key, 3) == split(row.owner, ','));
      ++rows;
    }
  }
  CHECK(rows == 55);
}

TEST_CASE("a server's port is what nginx takes as one", "[compat]") {
  compat::nginx options;
  options.ids = {{"a", "10.0.0.1"}, {"b", "10.0.0.1:"}, {"c", "unix:/tmp/s:80"}, {"d", "UNIX:/t"}};
  const auto placement = options.placement();
  // An empty port and none are one server to nginx.
  const std::vector<ring_node> same{{"a"}, {"b"}};
  REQUIRE(placement.validate(same));
  CHECK(placement.validate(same)->text ==
        "nginx: \"a\" and \"b\" are both \"10.0.0.1:\" there and would share all points; name or "
        "number them apart");
  CHECK_FALSE(placement.validate(std::vector<ring_node>{{"a"}, {"c"}, {"d"}}));
}

TEST_CASE("weights that nginx can't have, or that would fill memory, are refused with their number",
          "[compat]") {
  const auto refusal = [](const compat::nginx& options, std::uint64_t thousandths) {
    const std::vector<ring_node> nodes{{"a", weight_of(thousandths)}, {"b"}};
    const auto found = options.placement().validate(nodes);
    return found ? found->text : "";
  };
  CHECK(refusal({}, 100'000) == "");
  CHECK(refusal({}, 500) ==
        "nginx: the weight of \"a\" is 0.5 times unit 1; it must be a whole number up to "
        "100000000, so choose another unit or weight");
  compat::nginx tens;
  tens.unit = 10;
  CHECK(refusal(tens, 500) == "");
  compat::nginx perl;  // Takes weights that aren't whole.
  perl.points = 150;
  CHECK(refusal(perl, 500) == "");
  CHECK(ring_of(perl.placement(), {{"a", weight_of(500)}}).points() == 75);

  compat::nginx large;
  large.unit = 1000;
  large.points = 65536;
  CHECK(refusal(large, 100'000) ==
        "nginx: these weights make 6619136000 points, which would fill memory; a ring takes up to "
        "67108864, so use smaller weights");
  hash_ring ring{large.placement()};
  std::error_code error;
  ring.add({"a", weight_of(100'000)}, error);
  CHECK(error == lifering::errc::too_many_points);
  CHECK(ring.size() == 0);
}

TEST_CASE("a server that nginx would give no key is warned of", "[compat]") {
  const std::vector<ring_node> nodes{
      {"a", weight_of(100'000)}, {"b"}, {"c", weight_of(10)}, {"idle", weight_of(0)}};
  const auto warnings = [&nodes](const char* text) { return compat::parse(text).warnings(nodes); };
  CHECK(warnings("nginx").empty());  // 1.6 points, rounded.
  CHECK(warnings("nginx:points=10") ==
        std::vector<std::string>{
            "nginx: the weight rounds to no point for \"c\", so it gets no key"});
  CHECK(warnings("nginx:method=modulo,unit=100").empty());
  CHECK(warnings("nginx:method=modulo,unit=1000") ==
        std::vector<std::string>{"nginx: of 32768 values of the hash none is left for \"b\" and 1 "
                                 "other, so they get no key"});
  const hash_ring ring = ring_of(compat::parse("nginx:method=modulo,unit=1000"), nodes);
  CHECK(ring.view().share("a") == std::uint64_t{1} << 32);
}

TEST_CASE("raising a weight under nginx only takes keys", "[compat]") {
  const compat::nginx options;
  hash_ring ring = ring_of(options.placement(), {{"a:1"}, {"b:1"}, {"c:1"}});
  const auto before = ring.snapshot();
  ring.set_weight("b:1", weight_of(3000));
  const auto moves = lifering::diff(before, ring.view());
  REQUIRE(moves.moved() > 0);
  for (const auto& range : moves.ranges()) {
    CHECK(range.new_owner->name == "b:1");
  }
}
