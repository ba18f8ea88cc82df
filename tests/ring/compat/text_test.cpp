// Foreign placements as text, as values and as ids.
#include <lifering/compat.hpp>

#include "ring/ring_support.hpp"
#include "support/catch.hpp"

using namespace ring_test;
namespace compat = lifering::compat;

namespace {

std::string refusal(std::string_view text) {
  lifering::problem wrong;
  return compat::parse(text, wrong) ? "" : wrong.text;
}

}  // namespace

TEST_CASE("the text of a placement reads back as the same placement", "[compat]") {
  for (const char* text : {
           "nginx",
           "nginx:method=modulo",
           "nginx:points=100,unit=10,order=b;a,ids=a@10.0.0.1:80;b@10.0.0.2:80",
           "haproxy",
           "haproxy:hash=crc32,avalanche=off,key=addr-port,number=name",
           "ketama",
           "ketama:client=twemproxy,hash=fnv1a_64,hash_tag={}",
           "ketama:weighted=off,hash=one_at_a_time,ring_hash=jenkins,spy=on",
           "envoy_ring:min=64,max=4096,hash=murmur2",
           "maglev:size=5003",
           "redis_slots:tags=off,ranges=0-99@a;100-16383@b\\x3bc\\x40\\x2c\\x5c\\xff",
           "kafka:partitions=12,hash=fnv1a,assign=round_robin",
       }) {
    const auto placement = compat::parse(text);
    CHECK(placement.kind == placement_kind::foreign);
    CHECK(placement.text() == text);
    CHECK(compat::parse(placement.text()) == placement);
    CHECK(compat::is_name(text));
  }
  CHECK_FALSE(compat::is_name("classic"));
  CHECK(compat::parse("redis_slots:ranges=5@a").text() == "redis_slots:ranges=5-5@a");
}

TEST_CASE("options that say the same are one placement with one id, others have others",
          "[compat]") {
  const auto id = [](std::string_view text) { return compat::parse(text).id(); };
  CHECK(id("haproxy:hash=sdbm,avalanche=on") == id("haproxy"));
  CHECK(id("haproxy:avalanche=off,hash=crc32") == id("haproxy:hash=crc32,avalanche=off"));
  CHECK(id("ketama:hash=md5") == id("ketama"));
  CHECK(id("nginx:ids=b@2;a@1") == id("nginx:ids=a@1;b@2"));
  CHECK(id("nginx:order=b;a") != id("nginx"));
  std::vector<std::uint64_t> ids{placement_options::classic().id(), placement_options::mixed().id(),
                                 placement_options::slots().id()};
  for (const char* text : {"nginx", "nginx:method=modulo", "nginx:unit=2", "haproxy",
                           "haproxy:key=addr", "ketama", "ketama:client=twemproxy", "envoy_ring",
                           "maglev", "redis_slots", "kafka:partitions=3", "kafka:partitions=4"}) {
    ids.push_back(id(text));
  }
  std::sort(ids.begin(), ids.end());
  CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
  // Frozen: members of different versions compare them.
  CHECK(id("haproxy") == 0x3ad9'c8c6'2365'21ec);
}

TEST_CASE("what is wrong with a text is said with what would be right", "[compat]") {
  CHECK(refusal("squid") ==
        "placement \"squid\" is unknown; use nginx, haproxy, ketama, envoy_ring, maglev, "
        "redis_slots or kafka");
  CHECK(refusal("nginx:") == "nginx: \"\" is no option; write option=value, with commas between");
  CHECK(refusal("nginx:method") ==
        "nginx: \"method\" is no option; write option=value, with commas between");
  CHECK(refusal("nginx:method=ring") == "nginx: method is \"ring\"; use consistent or modulo");
  CHECK(refusal("nginx:methods=modulo") == "nginx has no option \"methods\"");
  CHECK(refusal("nginx:unit=1,unit=2") == "nginx: unit is given twice");
  CHECK(refusal("nginx:unit=x") == "nginx: unit is \"x\"; it must be a whole number");
  CHECK(refusal("nginx:unit=") == "nginx: unit is \"\"; it must be a whole number");
  CHECK(refusal("nginx:unit=-1") == "nginx: unit is \"-1\"; it must be a whole number");
  CHECK(refusal("nginx:unit=1001") == "nginx: unit is 1001; use 1 to 1000");
  CHECK(refusal("nginx:points=99999999999") ==
        "nginx: points is \"99999999999\"; it must be a whole number");
  CHECK(refusal("haproxy:avalanche=yes") == "haproxy: avalanche is \"yes\"; use on or off");
  CHECK(refusal("haproxy:hash=md5") ==
        "haproxy: hash is \"md5\"; use sdbm, djb2, wt6, crc32 or none");
  CHECK(refusal("haproxy:ids=a") ==
        "haproxy: ids is \"a\"; write NAME@ID, with semicolons between");
  CHECK(refusal("haproxy:ids=a@1;a@2") ==
        "haproxy: ids is a list with a name twice; give each server one id");
  CHECK(refusal("haproxy:ids=a@") ==
        "haproxy: ids is a list with an empty id for \"a\"; ids aren't empty");
  CHECK(refusal("haproxy:order=a;a") ==
        "haproxy: order is a list with \"a\" twice; name each server once");
  CHECK(refusal("haproxy:order=a\\xg0") ==
        "haproxy: order is \"a\\xg0\"; a backslash begins \\xHH");
  CHECK(refusal("haproxy:order=a\\x1") == "haproxy: order is \"a\\x1\"; a backslash begins \\xHH");
  CHECK(refusal("redis_slots:ranges=1-x@a") ==
        "redis_slots: ranges is \"1-x@a\"; write FIRST-LAST@NAME, with semicolons between");
  CHECK(refusal("redis_slots:ranges=5-4@a") ==
        "redis_slots: ranges is a list with 5-4; ranges are within 0-16383 and don't overlap");
  CHECK(refusal("kafka") == "kafka: partitions is 0; use 1 to 1000000");
  try {
    compat::parse("nginx:unit=0");
    FAIL("taken");
  } catch (const std::system_error& error) {
    CHECK(error.code() == lifering::errc::invalid_placement);
    CHECK(std::string_view{error.what()}.starts_with("nginx: unit is 0; use 1 to 1000"));
  }
}

TEST_CASE("a foreign placement can't be half given", "[compat]") {
  placement_options options;
  options.kind = placement_kind::foreign;
  CHECK(options.validate()->text ==
        "the kind is foreign and no foreign placement is given; make one with "
        "<lifering/compat.hpp>");
  options = compat::nginx{}.placement();
  CHECK_FALSE(options.validate());
  options.kind = placement_kind::slots;
  CHECK(options.validate()->text ==
        "a foreign placement is given for the kind slots; use kind foreign");
  options.kind = placement_kind::foreign;
  options.hash = [](std::string_view) { return std::uint32_t{0}; };
  options.hash_id = 1;
  CHECK(options.validate()->text ==
        "vnodes, label, segments, cap and hash are for classic, mixed and slots; nginx has options "
        "of its own, so leave them as they are");
  // Enumerators that a cast made.
  compat::haproxy proxy;
  proxy.hash = static_cast<compat::haproxy::hashes>(9);
  CHECK(proxy.placement().validate());
}

TEST_CASE("servers from elsewhere replace those of the placement", "[compat]") {
  const auto first = compat::parse("haproxy:order=a;b,ids=a@1");
  CHECK(compat::with_servers(first, {"b", "a"}, {}).text() == "haproxy:order=b;a,ids=a@1");
  CHECK(compat::with_servers(first, {}, {{"b", "2"}}).text() == "haproxy:order=a;b,ids=b@2");
  CHECK(compat::with_servers(compat::parse("maglev"), {"b"}, {{"b", "2"}}).text() ==
        "maglev:ids=b@2");
  CHECK(compat::with_servers(compat::parse("kafka:partitions=3"), {"b"}, {{"b", "2"}}).text() ==
        "kafka:partitions=3");
}

TEST_CASE("every placement takes a list of servers, and is as valid with it as without",
          "[compat]") {
  for (const char* text :
       {"nginx", "nginx:method=modulo", "haproxy", "haproxy:number=name", "haproxy:key=addr-port",
        "ketama", "ketama:client=twemproxy", "ketama:client=twemproxy,distribution=modula",
        "ketama:weighted=off", "envoy_ring", "maglev", "redis_slots", "kafka:partitions=3"}) {
    CAPTURE(text);
    const std::vector<ring_node> nodes{{"10.0.0.2:1"}, {"10.0.0.1:1"}};
    const auto listed = compat::with_servers(compat::parse(text), {"10.0.0.2:1", "10.0.0.1:1"}, {});
    CHECK_FALSE(listed.validate(nodes));
    CHECK(compat::parse(listed.text()) == listed);
  }
  // twemproxy sorts its servers by itself, so that an order would promise what isn't so.
  CHECK(compat::with_servers(compat::parse("ketama:client=twemproxy"), {"b", "a"}, {}) ==
        compat::parse("ketama:client=twemproxy"));
  CHECK(refusal("ketama:client=twemproxy,order=b;a") ==
        "ketama: weighted=off, spy and order are libmemcached's; twemproxy has none of them");
}

TEST_CASE("whatever bytes a name has, a complaint about it is printable", "[compat]") {
  const std::string rude = "\"\n\\\x1b[2J\xff" + std::string(250, 'x');
  const auto is_printable = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  };
  const auto check = [&](const placement_options& placement, const std::vector<ring_node>& nodes) {
    CAPTURE(placement.text());
    std::vector<std::string> texts = placement.warnings(nodes);
    if (const auto refused = placement.validate(nodes)) {
      texts.push_back(refused->text);
    }
    REQUIRE_FALSE(texts.empty());
    for (const std::string& text : texts) {
      CHECK(is_printable(text));
      CHECK(text.find("\\x22\\x0a\\x5c\\x1b[2J\\xff") != text.npos);
      CHECK(text.size() < 500);
    }
  };
  const std::vector<ring_node> half{{rude, weight_of(1500)}};
  for (const char* text : {"nginx", "haproxy:number=name", "ketama", "envoy_ring", "maglev"}) {
    check(compat::parse(text), half);
  }
  const std::vector<ring_node> pair{{rude}, {"a"}};
  const std::vector<ring_node> light{{rude}, {"a", weight_of(100'000)}};
  check(compat::parse("haproxy:key=addr"), pair);
  check(compat::parse("ketama:client=twemproxy"), pair);
  check(compat::parse("ketama"), light);
  check(compat::parse("envoy_ring:min=1,max=1,order=a"), light);
  check(compat::parse("redis_slots:ranges=0-16383@a"), pair);
  check(compat::with_servers(compat::parse("haproxy"), {}, {{rude, "x"}}), pair);
  check(compat::with_servers(compat::parse("haproxy"), {}, {{rude, "1"}, {"a", "1048577"}}), pair);
  check(compat::with_servers(compat::parse("maglev"), {}, {{rude, "x"}, {"a", "x"}}), pair);
  check(compat::with_servers(compat::parse("nginx"), {"a", rude, rude}, {}), {});
  placement_options prefixed;
  prefixed.label = "{i}{node}";
  check(prefixed, {{'1' + rude.substr(0, 200)}, {rude.substr(0, 200)}});
}
