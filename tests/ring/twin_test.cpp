// The tables against dumb twins: the same rules, written as plainly as they can be.
#include <cmath>
#include <lifering/hash.hpp>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ring/label.hpp"
#include "ring/rendezvous.hpp"
#include "ring/slot_table.hpp"
#include "ring_support.hpp"
#include "support/catch.hpp"

using namespace ring_test;
using namespace lifering::ring_detail;

namespace {

// Points of a ring as a sorted multimap; of equal points the smaller name.
class plain_ring {
 public:
  plain_ring(const placement_options& options, const std::vector<ring_node>& nodes)
      : mixes_(options.kind != placement_kind::classic) {
    const auto label = label_format::parse(options.label).value();
    const std::uint32_t vnodes = options.vnodes == 0 ? 150 : options.vnodes;
    for (const ring_node& node : nodes) {
      for (std::uint32_t i = 0; i < points_of(vnodes, node.weight); ++i) {
        std::string text;
        label.write(node.name, i, text);
        const auto [at, is_new] = owner_.emplace(place(text), node.name);
        if (!is_new) {
          at->second = std::min(at->second, node.name);
        }
      }
    }
  }

  std::string owner_at(std::uint32_t place) const {
    const auto at = owner_.lower_bound(place);
    return (at == owner_.end() ? owner_.begin() : at)->second;
  }

  const std::map<std::uint32_t, std::string>& points() const { return owner_; }

 private:
  std::uint32_t place(std::string_view text) const {
    const std::uint32_t hash = lifering::crc32(text);
    return mixes_ ? lifering::mix32(hash) : hash;
  }

  bool mixes_;
  std::map<std::uint32_t, std::string> owner_;
};

struct scored {
  node_set nodes;
  std::vector<std::uint32_t> slots;
  rendezvous scores;

  scored(const std::vector<ring_node>& given, unsigned bits) {
    std::error_code error;
    nodes = make_set(given, {}, error);
    REQUIRE(!error);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      slots.push_back(i + 1);
    }
    scores = rendezvous{nodes, slots, bits};
  }

  std::size_t slots_end() const { return nodes.size() + 1; }
};

fit best_by_trying_all(const rendezvous& scores, std::uint32_t segment) {
  fit best = scores.of(0, segment);
  for (std::uint32_t node = 1; node < scores.size(); ++node) {
    best = std::min(best, scores.of(node, segment));
  }
  return best;
}

// Deferred acceptance as Gale and Shapley wrote it: segments propose in the order of their fits, a
// node over its quota turns the worst away.
std::vector<std::uint32_t> deferred_acceptance(const rendezvous& scores,
                                               const std::vector<std::uint32_t>& quotas) {
  const std::uint32_t segments = scores.segments();
  std::vector<std::vector<fit>> wishes(segments);
  std::vector<std::map<fit, std::uint32_t>> held(scores.size());  // Fit to segment.
  std::vector<std::size_t> asked(segments);
  std::vector<std::uint32_t> waiting;
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    for (std::uint32_t node = 0; node < scores.size(); ++node) {
      wishes[segment].push_back(scores.of(node, segment));
    }
    std::sort(wishes[segment].begin(), wishes[segment].end());
    waiting.push_back(segment);
  }
  while (!waiting.empty()) {
    const std::uint32_t segment = waiting.back();
    waiting.pop_back();
    const fit& wish = wishes[segment][asked[segment]++];
    auto& here = held[wish.node];
    here.emplace(wish, segment);
    if (here.size() > quotas[wish.node]) {
      const auto worst = std::prev(here.end());
      waiting.push_back(worst->second);
      here.erase(worst);
    }
  }
  std::vector<std::uint32_t> owners(segments);
  for (std::uint32_t node = 0; node < scores.size(); ++node) {
    for (const auto& [quality, segment] : held[node]) {
      owners[segment] = scores.slot(node);
    }
  }
  return owners;
}

}  // namespace

TEST_CASE("a ring of points finds what a sorted map finds", "[ring][twin]") {
  for (const placement_options& placement : all_placements()) {
    if (placement.kind == placement_kind::slots) {
      continue;
    }
    for (const std::size_t count : {1U, 2U, 5U, 40U, 200U}) {
      random_source random{count};
      auto nodes = strange_nodes(random, count);
      nodes.front().weight = {};
      const plain_ring twin{placement, nodes};
      const hash_ring ring = ring_of(placement, nodes);
      const auto view = ring.view();
      std::vector<std::uint32_t> places{0, ~std::uint32_t{0}, 0x8000'0000U, 0x7fff'ffffU};
      for (const auto& [point, owner] : twin.points()) {
        places.insert(places.end(), {point - 1, point, point + 1});
      }
      for (int i = 0; i < 2000; ++i) {
        places.push_back(static_cast<std::uint32_t>(random.next()));
      }
      for (const std::uint32_t place : places) {
        REQUIRE(view.owner_at(place)->name == twin.owner_at(place));
      }
    }
  }
}

TEST_CASE("a node's order of segments is a bijection, and its inverse inverts it", "[ring][twin]") {
  random_source random{1};
  for (const unsigned bits : {10U, 11U, 17U, 18U}) {
    for (int round = 0; round < 5; ++round) {
      const permutation order = permutation{random.next()}.fitted(bits);
      const inverse_permutation back{order};
      std::vector<bool> seen(std::size_t{1} << bits);
      for (std::uint32_t segment = 0; segment < seen.size(); ++segment) {
        const std::uint32_t rank = order.rank(segment, bits);
        REQUIRE(rank < seen.size());
        REQUIRE(!seen[rank]);
        seen[rank] = true;
        REQUIRE(back.segment(rank, bits) == segment);
      }
    }
  }
}

TEST_CASE("the exponential clock is minus the binary logarithm, and never falls", "[ring][twin]") {
  STATIC_REQUIRE(exponential(0, 50) == 0);
  STATIC_REQUIRE(exponential(std::uint64_t{1} << 49, 50) == std::uint64_t{1} << log_places);
  random_source random{2};
  for (int i = 0; i < 100'000; ++i) {
    const unsigned bits = 42 + static_cast<unsigned>(random.below(13));
    const std::uint64_t draw =
        (random.next() >> random.below(40)) & ((std::uint64_t{1} << bits) - 2);
    const std::uint64_t clock = exponential(draw, bits);
    REQUIRE(exponential(draw + 1, bits) >= clock);
    const double u = std::ldexp(static_cast<double>(draw), -static_cast<int>(bits));
    const double exact = -std::log1p(-u) / std::log(2.0);
    REQUIRE(std::ldexp(static_cast<double>(clock), -static_cast<int>(log_places)) ==
            Approx(exact).epsilon(0.0005).margin(1e-9));
  }
}

TEST_CASE("the table of segments is that of scoring every node for every segment", "[ring][twin]") {
  constexpr unsigned bits = 11;
  for (const std::size_t count : {1U, 2U, 9U, 31U, 32U, 33U, 70U, 300U}) {
    CAPTURE(count);
    random_source random{count};
    auto nodes = strange_nodes(random, count);
    nodes.front().weight = {};
    const scored s{nodes, bits};
    const slot_state built = build_slots(s.scores, s.slots_end());
    for (std::uint32_t segment = 0; segment < built.table.size(); ++segment) {
      const fit best = best_by_trying_all(s.scores, segment);
      REQUIRE(built.table.get(segment) == s.scores.slot(best.node));
      REQUIRE(best.score <= built.worst);
    }
  }
}

TEST_CASE("nodes of equal weights give the same table by their ranks alone", "[ring][twin]") {
  // In a table of 2^10 segments many ranks are equal.
  for (const unsigned bits : {10U, 13U}) {
    for (const std::size_t count : {1U, 2U, 9U, 15U, 16U, 17U, 31U, 70U, 300U, 3000U}) {
      CAPTURE(bits, count);
      random_source random{count + bits};
      auto nodes = strange_nodes(random, count);
      for (auto& node : nodes)
        node.weight = weight_of(count % 2 == 0 ? 1000 : 270);
      scored s{nodes, bits};
      REQUIRE(s.scores.of_equal_weights());
      slot_state state = build_slots(s.scores, s.slots_end());
      const auto check = [](const slot_state& made, const scored& of) {
        for (std::uint32_t segment = 0; segment < made.table.size(); ++segment) {
          const fit best = best_by_trying_all(of.scores, segment);
          REQUIRE(made.table.get(segment) == of.scores.slot(best.node));
          REQUIRE(best.score <= made.worst);
        }
      };
      check(state, s);
      // One goes, and comes again.
      if (count < 2) continue;
      const std::size_t victim = random.below(count);
      const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const ring_node& node) {
        return node.name == s.nodes[victim]->node.name;
      });
      const auto weight = std::exchange(at->weight, weight_of(0));
      const scored less{nodes, bits};
      REQUIRE(less.scores.of_equal_weights());
      state = edit_slots(state, {{}, {s.slots[victim]}}, less.scores, less.slots_end());
      check(state, less);
      at->weight = weight;
      const scored more{nodes, bits};
      std::vector<std::uint32_t> gaining;
      for (std::uint32_t node = 0; node < more.scores.size(); ++node)
        if (more.scores.slot(node) == s.slots[victim]) gaining.push_back(node);
      state = edit_slots(state, {gaining, {}}, more.scores, more.slots_end());
      check(state, more);
    }
  }
}

TEST_CASE("the nearest nodes are the first of all in the order of fit", "[ring][twin]") {
  for (const unsigned bits : {10U, 18U, 22U}) {
    for (const std::size_t count : {1U, 7U, 8U, 9U, 100U}) {
      random_source random{count + bits};
      auto nodes = strange_nodes(random, count);
      nodes.front().weight = {};
      const scored s{nodes, bits};
      for (int i = 0; i < 200; ++i) {
        const auto segment = static_cast<std::uint32_t>(random.below(s.scores.segments()));
        std::vector<fit> all;
        for (std::uint32_t node = 0; node < s.scores.size(); ++node) {
          all.push_back(s.scores.of(node, segment));
        }
        std::sort(all.begin(), all.end());
        for (const std::size_t want : {1U, 2U, 16U, 200U}) {
          std::vector<fit> best(want);
          const std::size_t found = s.scores.nearest(segment, best);
          REQUIRE(found == std::min(want, all.size()));
          REQUIRE(std::equal(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(found),
                             all.begin()));
        }
      }
    }
  }
}

TEST_CASE("an edited table is the built one, and its bound holds", "[ring][twin]") {
  constexpr unsigned bits = 12;
  random_source random{5};
  auto nodes = strange_nodes(random, 60);
  nodes.front().weight = {};
  std::unique_ptr<scored> now = std::make_unique<scored>(nodes, bits);
  slot_state state = build_slots(now->scores, now->slots_end());
  for (int round = 0; round < 40; ++round) {
    // Weights change in place, so slots stay.
    slot_changes changes;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t which = random.below(now->nodes.size());
      const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const ring_node& node) {
        return node.name == now->nodes[which]->node.name;
      });
      const auto old_weight = at->weight;
      at->weight = weight_of(random.below(4) == 0 ? 0 : 10 + random.below(9000));
      if (at->weight < old_weight) {
        changes.losing.push_back(now->slots[which]);
      } else if (at->weight > old_weight) {
        changes.gaining.push_back(now->slots[which]);  // Translated to nodes below.
      }
    }
    auto next = std::make_unique<scored>(nodes, bits);
    std::vector<std::uint32_t> gaining;
    for (std::uint32_t node = 0; node < next->scores.size(); ++node) {
      if (std::find(changes.gaining.begin(), changes.gaining.end(), next->scores.slot(node)) !=
          changes.gaining.end()) {
        gaining.push_back(node);
      }
    }
    changes.gaining = gaining;
    state = edit_slots(state, changes, next->scores, next->slots_end());
    now = std::move(next);
    for (std::uint32_t segment = 0; segment < state.table.size(); ++segment) {
      const fit best = best_by_trying_all(now->scores, segment);
      REQUIRE(state.table.get(segment) == now->scores.slot(best.node));
      REQUIRE(best.score <= state.worst);
    }
  }
}

TEST_CASE("the capped table is the outcome of deferred acceptance", "[ring][twin]") {
  constexpr unsigned bits = 10;
  for (const std::size_t count : {1U, 2U, 10U, 40U}) {
    for (const std::uint32_t cap : {1U, 50U, 300U}) {
      CAPTURE(count, cap);
      random_source random{count * 1000 + cap};
      auto nodes = strange_nodes(random, count);
      nodes.front().weight = {};
      const scored s{nodes, bits};
      const slot_state built = build_capped_slots(s.scores, s.slots_end(), cap);
      std::vector<std::uint32_t> quotas(s.scores.size());
      for (std::uint32_t segment = 0; segment < built.table.size(); ++segment) {
        for (std::uint32_t node = 0; node < quotas.size(); ++node) {
          quotas[node] += built.table.get(segment) == s.scores.slot(node) ? 1U : 0U;
        }
      }
      // Quotas as the rule has them; those of nodes that aren't full are never felt.
      const std::vector<std::uint32_t> rule = capped_quotas(s.scores, cap);
      for (std::uint32_t node = 0; node < quotas.size(); ++node) {
        REQUIRE(quotas[node] <= rule[node]);
        const double fair = static_cast<double>(s.scores.segments()) * s.scores.weight(node) /
                            static_cast<double>(s.scores.weights());
        REQUIRE(rule[node] <= std::max(std::ceil(fair), fair * (1 + cap / 1000.0) + 1e-6));
      }
      const auto expected = deferred_acceptance(s.scores, rule);
      for (std::uint32_t segment = 0; segment < built.table.size(); ++segment) {
        REQUIRE(built.table.get(segment) == expected[segment]);
      }
    }
  }
}
