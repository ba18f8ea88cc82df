// The capped table: every segment to the best node that has room.
//
// Deferred acceptance (Gale and Shapley 1962): segments propose to nodes in the order of their fit,
// and a full node keeps those that fit it best. As both sides judge a pair by the same fit, there
// is just one stable outcome, and it can be had without deferring anything: go through all pairs
// from the best fit on, and join a pair if its segment is free and its node has room. The outcome
// is a function of the set of nodes alone.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "ring/slot_table.hpp"

namespace lifering::ring_detail {

namespace {

struct pair {
  fit quality;
  std::uint32_t segment;

  friend bool operator<(const pair& a, const pair& b) { return a.quality < b.quality; }
};

class capped_build {
 public:
  capped_build(const rendezvous& nodes, std::size_t slots, std::uint32_t cap)
      : nodes_(nodes),
        table_(nodes.bits(), slots),
        room_(capped_quotas(nodes, cap)),
        next_rank_(nodes.size()),
        free_(table_.size()) {
    for (std::uint32_t node = 0; node < nodes.size(); ++node) {
      open_.push_back(node);
    }
  }

  slot_table run() {
    // A slice of scores at a time, as wide as promises some tens of thousands of pairs.
    const std::uint64_t whole = (std::uint64_t{1} << (log_places + 17)) / nodes_.weights();
    std::uint64_t limit = 0;
    while (free_ * open_.size() > table_.size()) {
      const std::uint64_t stretch = 1 + (table_.size() - free_) / free_;
      limit += std::max<std::uint64_t>(1, whole / 8 * std::min<std::uint64_t>(stretch, 64));
      collect_slice(limit);
      settle();
    }
    for (std::uint32_t segment = 0; segment < table_.size(); ++segment) {
      if (table_.get(segment) == 0) {
        for (const std::uint32_t node : open_) {
          pairs_.push_back({nodes_.of(node, segment), segment});
        }
      }
    }
    settle();
    LIFERING_CHECK(free_ == 0);
    return std::move(table_);
  }

 private:
  /// All pairs up to a score that no earlier slice had and that may still come together.
  void collect_slice(std::uint64_t limit) {
    for (const std::uint32_t node : open_) {
      const inverse_permutation order{nodes_.order(node)};
      std::uint32_t& rank = next_rank_[node];
      for (; rank < table_.size(); ++rank) {
        const std::uint32_t segment = order.segment(rank, nodes_.bits());
        const fit quality = nodes_.of(node, segment);
        if (quality.score > limit) {
          break;
        }
        if (table_.get(segment) == 0) {
          pairs_.push_back({quality, segment});
        }
      }
    }
  }

  void settle() {
    std::sort(pairs_.begin(), pairs_.end());
    for (const pair& p : pairs_) {
      if (table_.get(p.segment) == 0 && room_[p.quality.node] > 0) {
        table_.set(p.segment, nodes_.slot(p.quality.node));
        --room_[p.quality.node];
        --free_;
      }
    }
    pairs_.clear();
    std::erase_if(open_, [this](std::uint32_t node) { return room_[node] == 0; });
  }

  const rendezvous& nodes_;
  slot_table table_;
  std::vector<std::uint32_t> room_;
  std::vector<std::uint32_t> next_rank_;
  std::vector<std::uint32_t> open_;
  std::size_t free_;
  std::vector<pair> pairs_;
};

}  // namespace

std::vector<std::uint32_t> capped_quotas(const rendezvous& nodes, std::uint32_t cap) {
  __extension__ using wide = unsigned __int128;
  const wide segments = nodes.segments();
  const wide weights = nodes.weights();
  constexpr wide parts = wide{1} << 16;
  std::vector<std::uint32_t> quotas;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    // Rounding must leave room for all: at least the fair share, rounded up. Quotas round down,
    // each at a place of its own between whole numbers, so that as the cluster grows they don't all
    // shrink at the same join.
    const wide weighted = segments * nodes.weight(node);
    const wide fair = (weighted + weights - 1) / weights;
    const wide exact = weighted * (1000 + cap) * parts / (weights * 1000);
    const wide place = std::min(exact, wide{nodes.order(node).salt >> 16});
    quotas.push_back(static_cast<std::uint32_t>(std::max(fair, (exact - place) / parts)));
  }
  return quotas;
}

slot_state build_capped_slots(const rendezvous& nodes, std::size_t slots, std::uint32_t cap) {
  slot_state state{slot_table{nodes.bits(), slots}, 0, 0};
  if (nodes.size() != 0) {
    state.table = capped_build{nodes, slots, cap}.run();
  }
  return state;
}

}  // namespace lifering::ring_detail
