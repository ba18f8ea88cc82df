// Redis Cluster's slots and Kafka's partitions.
#include <lifering/compat.hpp>

#include "ring/oracle_rows.hpp"

using namespace ring_test;
namespace compat = lifering::compat;

namespace {

std::vector<ring_node> named(const std::vector<std::string>& names) {
  std::vector<ring_node> nodes;
  for (const std::string& name : names) {
    nodes.push_back({name});
  }
  return nodes;
}

/// The last slot or partition of each node in turn: where the circle changes owner.
std::vector<std::pair<std::string, std::uint64_t>> ends_of(const hash_ring& ring,
                                                           std::uint64_t slots) {
  std::vector<std::pair<std::string, std::uint64_t>> ends;
  const auto view = ring.view();
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    const auto middle = static_cast<std::uint32_t>(((2 * slot + 1) << 31) / slots);
    const ring_node* owner = view.owner_at(middle);
    const std::string name = owner == nullptr ? "" : owner->name;
    if (!ends.empty() && ends.back().first == name) {
      ends.back().second = slot;
    } else {
      ends.emplace_back(name, slot);
    }
  }
  return ends;
}

}  // namespace

TEST_CASE("key slots are Redis Cluster's in every row", "[compat]") {
  const auto placement = compat::redis_slots{}.placement();
  const hash_ring ring = ring_of(placement, address_nodes(16));
  std::size_t rows = 0;
  for (const oracle_config& config : read_oracle("redis-keyslot.tsv")) {
    for (const oracle_row& row : config.rows) {
      CAPTURE(row.key);
      const std::uint32_t slot = compat::slot(placement, row.key).value();
      CHECK(slot == std::stoul(row.owner));
      CHECK(ring.view().place(row.key) == slot << 18);
      ++rows;
    }
  }
  CHECK(rows == 533);
}

TEST_CASE("without tags the whole key counts", "[compat]") {
  compat::redis_slots options;
  const auto tagged = compat::slot(options.placement(), "{user}:1");
  CHECK(tagged == compat::slot(options.placement(), "user"));
  options.tags = false;
  CHECK(compat::slot(options.placement(), "{user}:1") != tagged);
}

TEST_CASE("slots are spread as redis-cli spreads them over new masters", "[compat]") {
  using ends = std::vector<std::pair<std::string, std::uint64_t>>;
  const auto placement = compat::redis_slots{}.placement();
  CHECK(ends_of(ring_of(placement, named({"a", "b", "c"})), 16384) ==
        ends{{"a", 5460}, {"b", 10922}, {"c", 16383}});
  CHECK(ends_of(ring_of(placement, named({"a", "b", "c", "d", "e", "f"})), 16384) ==
        ends{{"a", 2730}, {"b", 5460}, {"c", 8191}, {"d", 10922}, {"e", 13652}, {"f", 16383}});
  CHECK(ends_of(ring_of(placement, named({"a"})), 16384) == ends{{"a", 16383}});
  // Every number of masters leaves no slot out.
  for (const std::size_t count : {2U, 7U, 11U, 100U, 1000U, 16384U, 20000U}) {
    const hash_ring ring = ring_of(placement, address_nodes(count));
    std::vector<std::string> expected;
    if (count > 16384) {
      expected.push_back("redis_slots: none of 16384 slots is left for \"" +
                         ring.nodes()[16384].name + "\" and 3615 others, so they get no key");
    }
    CHECK(placement.warnings(ring.nodes()) == expected);
  }
}

TEST_CASE("a slot belongs to the node of its range, or to nobody", "[compat]") {
  using ends = std::vector<std::pair<std::string, std::uint64_t>>;
  compat::redis_slots options;
  options.ranges = {{8192, 16000, "b"}, {0, 99, "a"}, {100, 8191, "gone"}};
  const auto placement = options.placement();
  hash_ring ring = ring_of(placement, named({"a", "b", "idle"}));
  CHECK(ends_of(ring, 16384) == ends{{"a", 99}, {"", 8191}, {"b", 16000}, {"", 16383}});
  CHECK(placement.warnings(ring.nodes()) ==
        std::vector<std::string>{
            "redis_slots: 8475 of 16384 slots have no node, so their keys have no owner",
            "redis_slots: none of 16384 slots is left for \"idle\", so it gets no key"});
  const std::vector<ring_node> idlers{{"a"}, {"b"}, {"idle"}, {"lazy"}, {"slow"}};
  CHECK(placement.warnings(idlers).back() ==
        "redis_slots: none of 16384 slots is left for \"idle\" and 2 others, so they get no key");
  CHECK(ring.view().share("b") == std::uint64_t{16000 - 8192 + 1} << 18);

  // A key of nobody's slot has no owner and no preference; others pass over such slots.
  const auto in = [&](std::uint32_t first, std::uint32_t last) {
    for (int i = 0;; ++i) {
      const std::string key = "key-" + std::to_string(i);
      const std::uint32_t slot = compat::slot(placement, key).value();
      if (slot >= first && slot <= last) {
        return key;
      }
    }
  };
  CHECK_FALSE(ring.owner(in(100, 8191)));
  CHECK(ring.owners(in(100, 8191), 3).empty());
  CHECK(ring.owners(in(16001, 16383), 3).empty());
  CHECK(ring.owners(in(0, 99), 3) == std::vector<std::string>{"a", "b"});
  CHECK(ring.owners(in(8192, 16000), 3) == std::vector<std::string>{"b", "a"});
  const auto nobody = [](const ring_node&) { return std::uint64_t{0}; };
  CHECK(ring.view().pick(in(100, 8191), nobody, 1250) == nullptr);

  // A node that comes back brings its slots.
  CHECK(ring.add({"gone"}).moved == std::uint64_t{8191 - 100 + 1} << 18);
  options.ranges.push_back({16000, 16383, "a"});
  CHECK(options.placement().validate()->text ==
        "redis_slots: ranges is a list with 16000-16383; ranges are within 0-16383 and don't "
        "overlap");
}

TEST_CASE("partitions are the clients' in every row but those of kafkajs before 2.0", "[compat]") {
  std::size_t rows = 0;
  std::size_t left_out = 0;
  for (const oracle_config& config : read_oracle("kafka-partitioners.tsv")) {
    CAPTURE(config.id);
    const std::string word = config.value("partitioner");
    if (word == "legacy") {  // Its murmur2 is in floating point, with a tail of its own.
      left_out += config.rows.size();
      continue;
    }
    compat::kafka options;
    options.partitions = config.number("partitions");
    options.hash = word == "consistent" ? compat::kafka::partitioners::consistent
                   : word == "fnv1a"    ? compat::kafka::partitioners::fnv1a
                                        : compat::kafka::partitioners::murmur2;
    // As many nodes as partitions: node i reads partition i.
    std::vector<ring_node> nodes;
    for (std::uint32_t i = 0; i < options.partitions; ++i) {
      nodes.push_back({std::to_string(1000 + i)});
    }
    const hash_ring ring = ring_of(options.placement(), nodes);
    for (const oracle_row& row : config.rows) {
      CHECK(compat::slot(options.placement(), row.key) == std::stoul(row.owner));
      const auto view = ring.view();
      CHECK(view.owner_at(view.place(row.key))->name ==
            std::to_string(1000 + std::stoul(row.owner)));
      ++rows;
    }
  }
  CHECK(rows == 1910);
  CHECK(left_out == 66);
}

TEST_CASE("partitions are dealt out as Kafka's assignors deal them", "[compat]") {
  using ends = std::vector<std::pair<std::string, std::uint64_t>>;
  compat::kafka options;
  options.partitions = 8;
  const auto nodes = named({"a", "b", "c"});
  CHECK(ends_of(ring_of(options.placement(), nodes), 8) == ends{{"a", 2}, {"b", 5}, {"c", 7}});
  options.assign = compat::kafka::assignments::round_robin;
  CHECK(ends_of(ring_of(options.placement(), nodes), 8) ==
        ends{{"a", 0}, {"b", 1}, {"c", 2}, {"a", 3}, {"b", 4}, {"c", 5}, {"a", 6}, {"b", 7}});
  options.partitions = 2;
  CHECK(options.placement().warnings(nodes) ==
        std::vector<std::string>{"kafka: 3 nodes share 2 partitions, so that some get no key"});
  options.partitions = 0;
  CHECK(options.placement().validate()->text == "kafka: partitions is 0; use 1 to 1000000");
  CHECK_FALSE(compat::slot(options.placement(), "key"));
}
