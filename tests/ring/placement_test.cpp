// Parameters of a placement: their check and their id.
#include <lifering/placement.hpp>
#include <lifering/ring.hpp>
#include <set>

#include "ring/label.hpp"
#include "support/catch.hpp"

using lifering::placement_kind;
using lifering::placement_options;
using lifering::ring_detail::label_format;
using lifering::ring_detail::points_of;

namespace {

std::uint32_t some_hash(std::string_view) {
  return 7;
}

std::string fault(const placement_options& options) {
  const auto found = options.validate();
  if (found) {
    CHECK(found->code == lifering::errc::invalid_placement);
  }
  return found ? found->text : "";
}

std::string label(std::string_view format, std::string_view node, std::uint32_t index) {
  std::string text;
  label_format::parse(format).value().write(node, index, text);
  return text;
}

}  // namespace

TEST_CASE("the three ready-made placements are valid", "[ring][placement]") {
  CHECK(fault(placement_options::classic()).empty());
  CHECK(fault(placement_options::mixed()).empty());
  CHECK(fault(placement_options::slots()).empty());
}

TEST_CASE("points that would fill memory are refused with their number before a ring is made",
          "[ring][placement]") {
  const std::vector<lifering::ring_node> nodes(1025, {"n"});  // Names don't matter for it.
  placement_options options;
  options.vnodes = 65'536;
  CHECK_FALSE(options.validate(std::span{nodes}.first(1024)));
  const auto found = options.validate(nodes);
  REQUIRE(found);
  CHECK(found->code == lifering::errc::too_many_points);
  CHECK(found->text ==
        "vnodes is 65536, with which these weights make 67174400 points, which would fill memory; "
        "a ring takes up to 67108864, so use fewer or smaller weights");
  CHECK_FALSE(placement_options::slots().validate(nodes));
}

TEST_CASE("what is wrong with a placement is one sentence with the value and the right ones",
          "[ring][placement]") {
  placement_options options;
  options.vnodes = 65'537;
  CHECK(fault(options) == "vnodes is 65537; use 1 to 65536, or 0 for 150");

  options = placement_options::slots();
  options.segments = 9;
  CHECK(fault(options) == "segments is 9; use 10 to 22, the base-2 logarithm of their number");
  options.segments = 23;
  CHECK(!fault(options).empty());

  options = placement_options::slots();
  options.cap = 10'001;
  CHECK(fault(options) == "cap is 10001 thousandths; use 0 for none or 1 to 10000");

  options = placement_options::classic();
  options.label = "{node}";
  CHECK(fault(options) == "label is \"{node}\"; it must hold {node} and {i} exactly once each");
  for (const char* bad : {"", "x", "{i}", "{node}{node}{i}", "{node}{i}{i}", "{NODE}{i}"}) {
    options.label = bad;
    CHECK(!fault(options).empty());
  }
  options.label = "{node}{i}" + std::string(250, 'x');
  CHECK(fault(options) == "label has 259 bytes; use at most 255");

  options = placement_options::classic();
  options.hash = some_hash;
  CHECK(fault(options) == "hash_id is 0; a custom hash needs an id of your own choice");
  options.hash_id = 5;
  CHECK(fault(options).empty());
  options.hash = nullptr;
  CHECK(fault(options) == "hash_id is 5; it must be 0 without a custom hash");

  options = {};
  options.kind = static_cast<placement_kind>(9);
  CHECK(fault(options) == "placement kind 9 is unknown; use classic, mixed or slots");
}

TEST_CASE("a placement's id differs for all that decides and for nothing else",
          "[ring][placement]") {
  std::set<std::uint64_t> ids;
  std::size_t count = 0;
  const auto differs = [&](const placement_options& options) {
    ids.insert(options.id());
    return ids.size() == ++count;
  };
  placement_options options;
  CHECK(differs(options));
  CHECK(differs(placement_options::mixed()));
  CHECK(differs(placement_options::slots()));
  options.vnodes = 151;
  CHECK(differs(options));
  options = {};
  options.label = "{node}-{i}";
  CHECK(differs(options));
  options = {};
  options.hash = some_hash;
  options.hash_id = 1;
  CHECK(differs(options));
  options = placement_options::slots();
  options.segments = 17;
  CHECK(differs(options));
  options = placement_options::slots();
  options.cap = 50;
  CHECK(differs(options));

  options = {};
  options.vnodes = 150;
  CHECK(options.id() == placement_options{}.id());
}

TEST_CASE("what another kind of placement uses is refused, as it would do nothing",
          "[ring][placement]") {
  for (auto options : {placement_options::classic(), placement_options::mixed()}) {
    const std::string kind{to_string(options.kind)};
    options.segments = 12;
    CHECK(fault(options) ==
          "segments is 12, of no use to " + kind + "; set vnodes and label, or choose slots");
    options.segments = 18;
    options.cap = 50;
    CHECK(fault(options) == "cap is 50 thousandths, of no use to " + kind +
                                "; set vnodes and label, or choose slots");
    options.cap = 0;
    CHECK(fault(options).empty());
  }
  auto options = placement_options::slots();
  options.vnodes = 200;
  CHECK(fault(options) ==
        "vnodes is 200, of no use to slots; set segments and cap, or choose classic or mixed");
  options.vnodes = 0;
  options.label = "{node}-{i}";
  CHECK(fault(options) ==
        "label is \"{node}-{i}\", of no use to slots; set segments and cap, or "
        "choose classic or mixed");
}

TEST_CASE("the words for placements read back", "[ring][placement]") {
  for (const auto kind : {placement_kind::classic, placement_kind::mixed, placement_kind::slots}) {
    CHECK(lifering::parse_placement(to_string(kind)) == kind);
  }
  CHECK(!lifering::parse_placement("ketama"));
  CHECK(!lifering::parse_placement(""));
}

TEST_CASE("a label is the format with name and number filled in", "[ring][placement]") {
  CHECK(label("{node}#{i}", "a", 0) == "a#0");
  CHECK(label("{node}-{i}", "10.0.0.1:80", 149) == "10.0.0.1:80-149");
  CHECK(label("{i}{node}", "x", 12) == "12x");
  CHECK(label("v1/{i}/{node}!", "{i}", 4294967295U) == "v1/4294967295/{i}!");
}

TEST_CASE("points are in proportion to the weight, rounded, and at least one",
          "[ring][placement]") {
  const auto weight = [](std::uint32_t t) { return *lifering::weight::from_thousandths(t); };
  CHECK(points_of(150, weight(1000)) == 150);
  CHECK(points_of(150, weight(0)) == 0);
  CHECK(points_of(150, weight(500)) == 75);
  CHECK(points_of(150, weight(10)) == 2);
  CHECK(points_of(1, weight(10)) == 1);
  CHECK(points_of(65'536, weight(100'000)) == 6'553'600);
}
