// Owners against rows that another implementation recorded: groupcache's consistent hash with Go's
// CRC-32. Its own rule lets the node that was added later win an equal point, which no function of
// the set can do, so rows of configurations made of such points (`tie`, `label`) are compared by
// the rule that is ours: the smaller name wins.
#include <fstream>
#include <map>

#include "ring/oracle_rows.hpp"
#include "ring_support.hpp"
#include "support/catch.hpp"

using namespace ring_test;

namespace {

struct config {
  std::string label;
  std::uint32_t points = 0;
  std::vector<std::string> names;
};

config read_config(const std::vector<std::string>& fields) {
  config result;
  for (const std::string& field : fields) {
    const auto value = [&field](const char* name) {
      return field.rfind(name, 0) == 0 ? field.substr(std::string{name}.size()) : "";
    };
    if (const std::string scheme = value("scheme="); !scheme.empty()) {
      result.label = scheme;
    } else if (const std::string points = value("replicas="); !points.empty()) {
      result.points = static_cast<std::uint32_t>(std::stoul(points));
    } else if (const std::string nodes = value("nodes="); !nodes.empty()) {
      for (const std::string& name : split(nodes, ',')) {
        result.names.push_back(unescape(name));
      }
    }
  }
  return result;
}

struct tally {
  std::size_t rows = 0;
  std::size_t agreed = 0;
  std::size_t shared_points = 0;  ///< Rows of `tie` and `label` configurations.
  std::size_t empty = 0;          ///< Rows with an empty key, or an owner with an empty name.
  std::size_t differ_on_tie = 0;  ///< Of shared_points: another owner than recorded.
};

tally compare_with(const std::string& file) {
  std::ifstream in{std::string{LIFERING_RING_ORACLES} + "/" + file};
  REQUIRE(in);
  tally result;
  std::map<std::string, hash_ring> rings;
  for (std::string line; std::getline(in, line);) {
    const auto fields = split(line, '\t');
    if (fields[0] == "#config") {
      const config c = read_config(fields);
      placement_options options;
      options.label = c.label;
      options.vnodes = c.points;
      std::vector<ring_node> nodes;
      for (const std::string& name : c.names) {
        if (!name.empty()) {  // An error here; the others' points are where they were.
          nodes.push_back({name});
        }
      }
      rings.emplace(fields[1], ring_of(options, std::move(nodes)));
      continue;
    }
    if (line.empty() || line[0] == '#') {
      continue;
    }
    REQUIRE(fields.size() == 3);
    ++result.rows;
    if (fields[1].empty() || fields[2].empty()) {
      ++result.empty;
      continue;
    }
    const auto owner = rings.at(fields[0]).owner(unescape(fields[1]));
    const bool agrees = owner == unescape(fields[2]);
    if (fields[0].find("tie") != std::string::npos ||
        fields[0].find("label") != std::string::npos) {
      ++result.shared_points;
      result.differ_on_tie += agrees ? 0U : 1U;
    } else if (agrees) {
      ++result.agreed;
    } else {
      FAIL(line << " but here " << owner.value_or("nobody"));
    }
  }
  return result;
}

}  // namespace

TEST_CASE("owners are groupcache's in every row that has one", "[ring][oracle]") {
  struct row {
    const char* file;
    std::size_t rows, agreed, shared_points, empty, differ_on_tie;
  };
  for (const row& expected : {row{"crc32-node-hash-i.tsv", 1816, 1664, 112, 40, 24},
                              row{"crc32-node-dash-i.tsv", 1532, 1398, 112, 22, 26},
                              row{"crc32-i-node-groupcache.tsv", 1706, 1535, 144, 27, 30}}) {
    CAPTURE(expected.file);
    const tally t = compare_with(expected.file);
    CHECK(t.rows == expected.rows);
    CHECK(t.agreed == expected.agreed);
    CHECK(t.shared_points == expected.shared_points);
    CHECK(t.empty == expected.empty);
    CHECK(t.differ_on_tie == expected.differ_on_tie);
    CHECK(t.agreed + t.shared_points + t.empty == t.rows);
  }
}

TEST_CASE("of nodes that share a point the smaller name owns it, in any order of joins",
          "[ring][oracle]") {
  // Points that the recorded sets share: crc32("cache-ncmwp8cxq-gnnjp#86") and so on.
  const std::string a = "cache-ncmwp8cxq-gnnjp";
  const std::string b = "cache-hw44slv5w-9mxr9";
  for (const auto& order : {std::vector{a, b}, std::vector{b, a}}) {
    hash_ring ring;
    for (const std::string& name : order) {
      ring.add({name});
    }
    for (const std::uint32_t shared : {1020607140U, 1272056370U, 2892638005U, 3681359779U}) {
      CHECK(ring.view().owner_at(shared)->name == b);
    }
    // Removing the one leaves the other's point.
    ring.remove(b);
    for (const std::uint32_t shared : {1020607140U, 1272056370U, 2892638005U, 3681359779U}) {
      CHECK(ring.view().owner_at(shared)->name == a);
    }
    CHECK(ring.points() == 150);
  }
}
