// libmemcached and twemproxy.
#include <lifering/compat.hpp>

#include "ring/oracle_rows.hpp"

using namespace ring_test;
namespace compat = lifering::compat;
using hashes = compat::ketama::hashes;

namespace {

hashes hash_named(const std::string& word) {
  const std::pair<const char*, hashes> all[] = {{"one_at_a_time", hashes::one_at_a_time},
                                                {"default", hashes::one_at_a_time},
                                                {"md5", hashes::md5},
                                                {"crc", hashes::crc},
                                                {"crc32", hashes::crc},
                                                {"crc16", hashes::crc16},
                                                {"crc32a", hashes::crc32a},
                                                {"fnv1_64", hashes::fnv1_64},
                                                {"fnv1a_64", hashes::fnv1a_64},
                                                {"fnv1_32", hashes::fnv1_32},
                                                {"fnv1a_32", hashes::fnv1a_32},
                                                {"hsieh", hashes::hsieh},
                                                {"murmur", hashes::murmur},
                                                {"murmur3", hashes::murmur3},
                                                {"jenkins", hashes::jenkins}};
  for (const auto& [name, hash] : all) {
    if (word == name) {
      return hash;
    }
  }
  return hashes::automatic;
}

/// `servers=HOST|PORT|WEIGHT,...`
std::optional<answering_ring> libmemcached_ring(const oracle_config& config) {
  answering_ring result;
  compat::ketama options;
  const std::string distribution = config.value("dist");
  std::map<std::string, std::string> in_rows;
  bool has_weights = false;
  for (const std::string& text : split(config.value("servers"), ',')) {
    const auto parts = split(text, '|');
    const std::string host =
        parts[0].find(':') == std::string::npos ? parts[0] : '[' + parts[0] + ']';
    std::string name = host + ':' + parts.at(1);
    while (in_rows.count(name) != 0) {
      name += "*";  // One that is listed twice.
    }
    in_rows[name] = parts[0] + '|' + parts[1];
    has_weights = has_weights || parts.at(2) != "1";
    options.unit = std::stoul(parts[2]) > 100 ? 10 : options.unit;
    options.order.push_back(name);
    options.ids.push_back({name, name.substr(0, name.find('*'))});
  }
  const auto servers = split(config.value("servers"), ',');
  for (std::size_t i = 0; i < servers.size(); ++i) {
    result.nodes.push_back(
        {options.order[i], scaled(std::stoul(split(servers[i], '|')[2]), options.unit)});
  }
  options.weighted = has_weights || distribution == "behavior-ketama-weighted" ||
                     distribution == "consistent-weighted";
  options.spy = distribution == "consistent-ketama-spy";
  options.distribution = distribution == "modula" ? compat::ketama::distributions::modula
                                                  : compat::ketama::distributions::ketama;
  options.allow_crc = true;
  options.hash = hash_named(config.value("hash"));
  if (options.hash == hashes::automatic && distribution != "behavior-ketama-weighted") {
    options.hash = hashes::one_at_a_time;
  }
  if (config.value("order") == "late" && !options.weighted) {
    options.ring_hash = hashes::one_at_a_time;
  }
  result.placement = options.placement();
  result.name_in_rows = [in_rows](const std::string& name) { return in_rows.at(name); };
  return result;
}

/// `servers=ADDRESS@WEIGHT[=NAME],...`
std::optional<answering_ring> twemproxy_ring(const oracle_config& config) {
  answering_ring result;
  compat::ketama options;
  options.client = compat::ketama::clients::twemproxy;
  options.distribution = config.value("distribution") == "modula"
                             ? compat::ketama::distributions::modula
                             : compat::ketama::distributions::ketama;
  options.allow_crc = true;
  options.hash = hash_named(config.value("hash"));
  options.hash_tag = config.value("hash_tag");
  for (const std::string& text : split(config.value("servers"), ',')) {
    const std::size_t at = text.find('@');
    const std::size_t equals = text.find('=', at);
    const std::string name =
        equals == std::string::npos ? text.substr(0, at) : text.substr(equals + 1);
    const bool is_out = config.id == "auto-eject" && name == "w3";
    result.nodes.push_back({name, weight_of(is_out ? 0 : 1000 * std::stoul(text.substr(at + 1)))});
  }
  result.placement = options.placement();
  return result;
}

}  // namespace

TEST_CASE("owners are libmemcached's in every row", "[compat][md5]") {
  CHECK(agree("libmemcached.tsv", libmemcached_ring) == agreement{1918, 0});
}

TEST_CASE("owners are twemproxy's in every row", "[compat][md5]") {
  CHECK(agree("twemproxy.tsv", twemproxy_ring) == agreement{1582, 0});
}

TEST_CASE("owners are libmemcached's without weights, where no point is an MD5", "[compat][md5]") {
  const auto make = [](const oracle_config& config) {
    const auto made = libmemcached_ring(config);
    const std::string text{made->placement.text()};
    const bool no_md5 = text.find("weighted=off") != text.npos && text.find("md5") == text.npos;
    return no_md5 ? made : std::nullopt;
  };
  CHECK(agree("libmemcached.tsv", make) == agreement{822, 1096});
}

TEST_CASE("fifteen bits of CRC-32 are refused where all keys would go to one server", "[compat]") {
  compat::ketama options;
  options.hash = hashes::crc;
  REQUIRE(options.placement().validate());
  CHECK(options.placement().validate()->text ==
        "ketama: hash is crc, fifteen bits of CRC-32, with which every key goes to one server; use "
        "crc32a, or allow_crc=on to reproduce it");
  options.allow_crc = true;
  CHECK_FALSE(options.placement().validate());
  options.allow_crc = false;
  options.weighted = false;  // A ring of 2^15, but a ring.
  CHECK_FALSE(options.placement().validate());
}

TEST_CASE("a weight that rounds to no point is warned of", "[compat][md5]") {
  const compat::ketama options;
  const auto warned = [&options](std::uint64_t heavy) {
    return options.placement().warnings(std::vector<ring_node>{{"a:1"}, {"b:1", weight_of(heavy)}});
  };
  CHECK(warned(79'000).empty());
  CHECK(warned(80'000) == std::vector<std::string>{
                              "ketama: the weight of \"a:1\", 1 of 81, rounds to no point, so it "
                              "gets no key; raise it"});
  const hash_ring ring =
      ring_of(options.placement(), {{"a:1"}, {"b:1", weight_of(80'000)}, {"c:1", weight_of(0)}});
  CHECK(ring.owners("key", 3) == std::vector<std::string>{"b:1"});
}

TEST_CASE("points of equal servers fall to 156 where single precision does", "[compat][md5]") {
  for (const std::size_t count : {24U, 25U, 26U, 47U, 50U, 55U}) {
    const bool falls = count != 24 && count != 26;
    const hash_ring ring = ring_of(compat::ketama{}.placement(), address_nodes(count));
    CHECK(ring.points() == count * (falls ? 156 : 160));
  }
}

TEST_CASE("what only one of the clients has is refused with the other", "[compat]") {
  compat::ketama options;
  options.client = compat::ketama::clients::twemproxy;
  CHECK_FALSE(options.placement().validate());
  options.weighted = false;
  REQUIRE(options.placement().validate());
  CHECK(options.placement().validate()->text ==
        "ketama: weighted=off, spy and order are libmemcached's; twemproxy has none of them");
  options.weighted = true;
  options.hash_tag = "{";
  CHECK(options.placement().validate()->text ==
        "ketama: hash_tag has 1 bytes; use two, such as {}, or none");
  options.hash_tag.clear();
  CHECK(options.placement().validate(std::vector<ring_node>{{std::string(90, 'x')}})->text ==
        "ketama: \"" + std::string(64, 'x') +
            "...\" (90 bytes) makes labels that twemproxy cuts off; use at most 78 bytes");
  CHECK(compat::ketama{}.placement().validate(std::vector<ring_node>{{"h"}, {"h:11211"}})->text ==
        "ketama: \"h\" and \"h:11211\" are both \"h\" there and would share all points; name or "
        "number them apart");
}
