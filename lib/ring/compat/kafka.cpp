// Kafka: what producers' partitioners say of a key, and how consumers' assignors deal out
// partitions.
#include <algorithm>
#include <lifering/hash.hpp>

#include "ring/compat/even_slots.hpp"
#include "ring/compat/murmur.hpp"
#include "ring/compat/servers.hpp"
#include "ring/compat/system_rule.hpp"

namespace lifering::compat {

namespace {

constexpr std::uint32_t partitions_max = 1'000'000;
constexpr std::uint32_t murmur_seed = 0x9747'b28c;

/// rd_fnv1a(): the absolute value, as of a signed number.
std::uint32_t fnv1a(std::string_view key) noexcept {
  std::uint32_t hash = 2'166'136'261;
  for (const char c : key) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  }
  return (hash & 0x8000'0000U) != 0 ? 0U - hash : hash;
}

std::uint32_t partition_of(const kafka& options, std::string_view key) noexcept {
  switch (options.hash) {
    case kafka::partitioners::consistent:
      return crc32(key) % options.partitions;
    case kafka::partitioners::fnv1a:
      return fnv1a(key) % options.partitions;
    case kafka::partitioners::murmur2:
      break;
  }
  return (murmur2(key, murmur_seed) & 0x7fff'ffffU) % options.partitions;
}

class kafka_table final : public foreign_table {
 public:
  explicit kafka_table(const kafka& options) : options_(options), slots_(options.partitions) {}

  std::uint32_t place(std::string_view key) const noexcept override {
    return slots_.place(partition_of(options_, key));
  }

 private:
  kafka options_;
  even_slots slots_;
};

class kafka_rule final : public system_rule<kafka_rule, kafka> {
 public:
  static constexpr std::string_view name = "kafka";
  using system_rule::system_rule;

  template <class Visitor>
  static void describe(kafka& o, Visitor& visit) {
    visit.number("partitions", o.partitions, 1U, partitions_max);
    visit.word("hash", o.hash, std::array<std::string_view, 3>{"murmur2", "consistent", "fnv1a"});
    visit.word("assign", o.assign, std::array<std::string_view, 2>{"range", "round_robin"});
  }

  void warn(node_span nodes, std::vector<std::string>& found) const override {
    const auto all = weighty(servers_of(nodes, {}, {}, 1));
    if (all.size() > options().partitions) {
      found.push_back("kafka: " + std::to_string(all.size()) + " nodes share " +
                      std::to_string(options().partitions) +
                      " partitions, so that some get no key");
    }
  }

  std::uint64_t count_points(node_span /*nodes*/) const override { return options().partitions; }

  std::unique_ptr<const foreign_table> build(node_span nodes,
                                             std::vector<point>& points) const override {
    const auto all = weighty(servers_of(nodes, {}, {}, 1));
    if (!all.empty()) {
      const auto count = static_cast<std::uint32_t>(all.size());
      const std::uint32_t each = options().partitions / count;
      const std::uint32_t longer = options().partitions % count;  // So many have one more.
      even_slots{options().partitions}.append(points, [&](std::uint32_t partition) {
        std::uint32_t node = partition % count;
        if (options().assign == kafka::assignments::range) {
          const std::uint32_t in_longer = longer * (each + 1);
          node = partition < in_longer ? partition / (each + 1)
                                       : longer + (partition - in_longer) / each;
        }
        return all[node].slot;
      });
    }
    return std::make_unique<kafka_table>(options());
  }

  std::optional<std::uint32_t> slot(std::string_view key) const override {
    return options().partitions == 0 ? std::nullopt : std::optional{partition_of(options(), key)};
  }
};

}  // namespace

placement_options kafka::placement() const {
  return placement_by(std::make_shared<const kafka_rule>(*this));
}

std::shared_ptr<const compat_rule> read_kafka(const option_list& given, problem& wrong) {
  return read_rule<kafka_rule, kafka>(given, wrong);
}

}  // namespace lifering::compat
