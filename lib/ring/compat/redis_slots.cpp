// Redis Cluster: keyHashSlot() in cluster.c, and how redis-cli spreads slots over masters.
#include <algorithm>
#include <set>

#include "ring/compat/crc16.hpp"
#include "ring/compat/even_slots.hpp"
#include "ring/compat/servers.hpp"
#include "ring/compat/system_rule.hpp"

namespace lifering::compat {

namespace {

constexpr even_slots slots{redis_slots::count};

/// The first { and the first } after it, if something stands between.
std::uint32_t slot_of(std::string_view key, bool tags) noexcept {
  if (const std::size_t open = tags ? key.find('{') : key.npos; open != key.npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != key.npos && close > open + 1) {
      key = key.substr(open + 1, close - open - 1);
    }
  }
  return crc16(key) % redis_slots::count;
}

class redis_table final : public foreign_table {
 public:
  explicit redis_table(bool tags) : tags_(tags) {}

  std::uint32_t place(std::string_view key) const noexcept override {
    return slots.place(slot_of(key, tags_));
  }

 private:
  bool tags_;
};

/// To the nearest whole number, halves away from 0, as lround().
std::int64_t nearest(float value) {
  return value < 0 ? -static_cast<std::int64_t>(0.5 - static_cast<double>(value))
                   : static_cast<std::int64_t>(static_cast<double>(value) + 0.5);
}

class redis_slots_rule final : public system_rule<redis_slots_rule, redis_slots> {
 public:
  static constexpr std::string_view name = "redis_slots";
  using system_rule::system_rule;

  static redis_slots settled(redis_slots options) {
    std::sort(options.ranges.begin(), options.ranges.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return options;
  }

  template <class Visitor>
  static void describe(redis_slots& o, Visitor& visit) {
    visit.flag("tags", o.tags);
    visit.ranges(o.ranges);
    visit.order(o.order);
  }

  void warn(node_span nodes, std::vector<std::string>& found) const override {
    const auto owners = owners_of(nodes);
    const auto nobodys = std::count(owners.begin(), owners.end(), 0U);
    if (nobodys != 0) {
      found.push_back("redis_slots: " + std::to_string(nobodys) +
                      " of 16384 slots have no node, so their keys have no owner");
    }
    auto idle = weighty(servers_of(nodes, options().order, {}, 1));
    std::erase_if(idle, [owning = std::set<std::uint32_t>(owners.begin(), owners.end())](
                            const server& each) { return owning.contains(each.slot); });
    warn_of_idle(name, idle, "none of 16384 slots is left", found);
  }

  std::uint64_t count_points(node_span /*nodes*/) const override { return redis_slots::count; }

  std::unique_ptr<const foreign_table> build(node_span nodes,
                                             std::vector<point>& points) const override {
    const auto owners = owners_of(nodes);
    slots.append(points, [&owners](std::uint32_t slot) { return owners[slot]; });
    return std::make_unique<redis_table>(options().tags);
  }

  std::optional<std::uint32_t> slot(std::string_view key) const override {
    return slot_of(key, options().tags);
  }

 private:
  std::vector<std::uint32_t> owners_of(node_span nodes) const {
    std::vector<std::uint32_t> owners(redis_slots::count);
    const auto all = weighty(servers_of(nodes, options().order, {}, 1));
    if (options().ranges.empty()) {
      spread(all, owners);
      return owners;
    }
    for (const auto& range : options().ranges) {
      const auto at = std::find_if(all.begin(), all.end(), [&range](const server& each) {
        return each.node->name == range.node;
      });
      if (at != all.end()) {
        std::fill(owners.begin() + range.first, owners.begin() + range.last + 1, at->slot);
      }
    }
    return owners;
  }

  /// clusterManagerCommandCreate(), in its single precision.
  static void spread(const std::vector<server>& all, std::vector<std::uint32_t>& owners) {
    const float each = redis_slots::count / static_cast<float>(all.size());
    std::int64_t first = 0;
    float cursor = 0;
    for (std::size_t i = 0; i < all.size() && first < redis_slots::count; ++i) {
      const float end = cursor + each;
      std::int64_t last = std::max(nearest(end - 1), first);
      if (i + 1 == all.size() || last >= redis_slots::count) {
        last = redis_slots::count - 1;
      }
      std::fill(owners.begin() + first, owners.begin() + last + 1, all[i].slot);
      first = last + 1;
      cursor = end;
    }
  }
};

}  // namespace

placement_options redis_slots::placement() const {
  return placement_by(std::make_shared<const redis_slots_rule>(*this));
}

std::shared_ptr<const compat_rule> read_redis_slots(const option_list& given, problem& wrong) {
  return read_rule<redis_slots_rule, redis_slots>(given, wrong);
}

}  // namespace lifering::compat
