// Envoy's Maglev (maglev_lb.cc), after Eisenbud et al. 2016 with weights.
#include <algorithm>

#include "ring/compat/envoy.hpp"
#include "ring/compat/even_slots.hpp"
#include "ring/compat/system_rule.hpp"
#include "ring/compat/xxhash.hpp"

namespace lifering::compat {

namespace {

constexpr std::uint32_t size_max = 5'000'011;

class maglev_table final : public foreign_table {
 public:
  explicit maglev_table(std::uint32_t size) : slots_(size) {}

  std::uint32_t place(std::string_view key) const noexcept override {
    return slots_.place(static_cast<std::uint32_t>(xxhash64(key, 0) % slots_.count()));
  }

 private:
  even_slots slots_;
};

bool is_prime(std::uint32_t number) {
  for (std::uint32_t divisor = 2; divisor <= number / divisor; ++divisor) {
    if (number % divisor == 0) {
      return false;
    }
  }
  return number >= 2;
}

/// A server's own order of the slots, and how many of them it has looked at.
struct turn {
  std::uint64_t offset;
  std::uint64_t skip;
  double target = 0;
  std::uint64_t next = 0;
};

class maglev_rule final : public system_rule<maglev_rule, maglev> {
 public:
  static constexpr std::string_view name = "maglev";
  using system_rule::system_rule;

  template <class Visitor>
  static void describe(maglev& o, Visitor& visit) {
    visit.number("size", o.size, 2U, size_max);
    visit.number("unit", o.unit, 1U, 1000U);
    visit.ids(o.ids);
  }

  std::optional<problem> refuse(node_span nodes) const override {
    return refuse_servers(name, nodes, servers(nodes), options().unit);
  }

  void warn(node_span nodes, std::vector<std::string>& found) const override {
    const auto all = servers(nodes);
    if (all.size() > options().size) {
      found.push_back("maglev: " + std::to_string(all.size()) + " servers have " +
                      std::to_string(options().size) +
                      " slots, so that some get no key; use a hundred times the servers");
    }
  }

  std::uint64_t count_points(node_span /*nodes*/) const override { return options().size; }

  std::unique_ptr<const foreign_table> build(node_span nodes,
                                             std::vector<point>& points) const override {
    const auto all = servers(nodes);
    if (!all.empty()) {
      const auto owners = fill(all);
      even_slots{options().size}.append(points,
                                        [&owners](std::uint32_t slot) { return owners[slot]; });
    }
    return std::make_unique<maglev_table>(options().size);
  }

  std::optional<std::uint32_t> slot(std::string_view key) const override {
    return validate()
               ? std::nullopt
               : std::optional{static_cast<std::uint32_t>(xxhash64(key, 0) % options().size)};
  }

 private:
  std::optional<problem> check() const override {
    if (!is_prime(options().size)) {
      return bad_option("maglev: size is " + std::to_string(options().size) +
                        "; it must be a prime, such as 65537, or servers would not see all slots");
    }
    return std::nullopt;
  }

  std::vector<server> servers(node_span nodes) const {
    auto all = weighty(servers_of(nodes, {}, options().ids, options().unit));
    std::sort(all.begin(), all.end(), [](const server& a, const server& b) { return a.id < b.id; });
    return all;
  }

  /// The owner of each slot. A server of half the greatest weight takes one in every other round.
  std::vector<std::uint32_t> fill(const std::vector<server>& all) const {
    const std::uint64_t size = options().size;
    std::vector<turn> turns;
    for (const server& each : all) {
      turns.push_back({xxhash64(each.id, 0) % size, xxhash64(each.id, 1) % (size - 1) + 1});
    }
    const auto weights = normalise(all);
    std::vector<std::uint32_t> owners(size);
    std::uint64_t filled = 0;
    for (std::uint64_t round = 1; filled < size; ++round) {
      for (std::size_t i = 0; i < all.size() && filled < size; ++i) {
        turn& own = turns[i];
        const double due = static_cast<double>(round) * weights.parts[i];
        if (due < own.target) {
          continue;
        }
        own.target += weights.greatest;
        const auto looked_at = [&] { return (own.offset + own.skip * own.next++) % size; };
        std::uint64_t slot = looked_at();
        while (owners[slot] != 0) {
          slot = looked_at();
        }
        owners[slot] = all[i].slot;
        ++filled;
      }
    }
    return owners;
  }
};

}  // namespace

placement_options maglev::placement() const {
  return placement_by(std::make_shared<const maglev_rule>(*this));
}

std::shared_ptr<const compat_rule> read_maglev(const option_list& given, problem& wrong) {
  return read_rule<maglev_rule, maglev>(given, wrong);
}

}  // namespace lifering::compat
