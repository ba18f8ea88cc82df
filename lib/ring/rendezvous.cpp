// Scoring all nodes for a segment.
//
// An exact score takes a logarithm and a wide multiplication. A lower bound of it is cheap, as
// -log2(1 - u) is at least 1.4426 u: rank over weight, in eight lanes at once. Only nodes whose
// bound is within the best score found so far are scored exactly: some ten of a thousand.
#include "ring/rendezvous.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.hpp"

namespace lifering::ring_detail {

struct rendezvous_kernels {
  using group = rendezvous::lane_group;
  static constexpr std::size_t lanes = rendezvous::lanes;

  /// The first group from `first` on with a bound of at most `limit`, whose bounds it writes down;
  /// `end` if there is none.
  using search = std::size_t (*)(const group* groups, std::size_t first, std::size_t end,
                                 std::uint32_t segment, unsigned bits, std::uint32_t limit,
                                 std::uint32_t* bounds);

  // Written with vector types, so that every compiler and level of optimisation makes vector
  // instructions of it, whatever the machine has.
  using words = std::uint32_t __attribute__((vector_size(lanes * 4)));
  using pairs = std::uint64_t __attribute__((vector_size(lanes * 4)));

  __attribute__((always_inline)) static inline std::size_t run(const group* groups,
                                                               std::size_t first, std::size_t end,
                                                               std::uint32_t segment, unsigned bits,
                                                               std::uint32_t limit,
                                                               std::uint32_t* bounds) noexcept {
    const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
    const unsigned half = (bits + 1) / 2;
    for (std::size_t g = first; g < end; ++g) {
      const auto* n = reinterpret_cast<const words*>(groups + g);  // Six in a row.
      words x = (n[0] ^ segment) & mask;
      x = (x * n[1]) & mask;
      x ^= x >> half;
      x = (x * n[2]) & mask;
      x ^= x >> half;
      x = ((x * n[3] + n[4]) & mask) * n[5];
      const auto any = reinterpret_cast<pairs>(x <= limit);
      if ((any[0] | any[1] | any[2] | any[3]) != 0) {
        std::memcpy(bounds, &x, sizeof x);
        return g;
      }
    }
    return end;
  }

  static std::size_t plain(const group* groups, std::size_t first, std::size_t end,
                           std::uint32_t segment, unsigned bits, std::uint32_t limit,
                           std::uint32_t* bounds) noexcept {
    return run(groups, first, end, segment, bits, limit, bounds);
  }

#if defined(__x86_64__)
  __attribute__((target("avx2"))) static std::size_t avx2(const group* groups, std::size_t first,
                                                          std::size_t end, std::uint32_t segment,
                                                          unsigned bits, std::uint32_t limit,
                                                          std::uint32_t* bounds) noexcept {
    return run(groups, first, end, segment, bits, limit, bounds);
  }

  static search choose() noexcept {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? avx2 : plain;
  }
#else
  static search choose() noexcept {
    return plain;
  }
#endif
};

rendezvous::rendezvous(const node_set& nodes, std::span<const std::uint32_t> slots, unsigned bits)
    : bits_(bits) {
  orders_.reserve(nodes.size());
  nodes_.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint32_t thousandths = nodes[i]->node.weight.thousandths();
    if (thousandths != 0) {
      orders_.push_back(nodes[i]->order.fitted(bits));
      nodes_.push_back({reciprocal_of(thousandths), slots[i], thousandths});
      weights_ += thousandths;
    }
  }
  std::uint32_t lightest = weight::thousandths_max;
  for (const scored_node& node : nodes_) {
    lightest = std::min(lightest, node.thousandths);
  }
  lightest_ = lightest;
  equal_weights_ = !nodes_.empty() && weights_ == std::uint64_t{lightest} * nodes_.size();
  groups_.resize((nodes_.size() + lanes - 1) / lanes);
  for (std::size_t i = 0; i < groups_.size() * lanes; ++i) {
    lane_group& group = groups_[i / lanes];
    const std::size_t lane = i % lanes;
    // Lanes past the last node are passed over; they hold the first one for good measure.
    const std::size_t node = i < nodes_.size() ? i : 0;
    const permutation& order = orders_[node];
    group.flips[lane] = order.flips;
    group.first[lane] = order.multipliers[0];
    group.second[lane] = order.multipliers[1];
    group.third[lane] = order.multipliers[2];
    group.offset[lane] = order.offset;
    // Times a rank, which is less than 2^bits, this just fits in 32 bits.
    group.lightness[lane] = static_cast<std::uint32_t>((std::uint64_t{lightest} << (32 - bits)) /
                                                       nodes_[node].thousandths);
  }
}

std::uint32_t rendezvous::rank_beyond(std::uint32_t node, std::uint64_t limit) const noexcept {
  std::uint32_t low = 0;
  std::uint32_t high = segments();
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (least_score(node, middle) > limit) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

std::uint32_t rendezvous::bound_of(std::uint64_t score) const noexcept {
  // score + 2 >= 1.4426 * 2^(57 - bits) * rank / weight >= 1.4426 * 2^25 * bound / lightest, so no
  // node with a greater bound has that score. The factor is above log(2).
  __extension__ using wide = unsigned __int128;
  constexpr wide log_of_2 = 0xb176'0000'0000'0000U;  // 0.69321, of 2^64.
  const std::uint64_t scaled = (((score + 2) >> 25) + 1) * lightest_;
  const auto bound = static_cast<std::uint64_t>((wide{scaled} * log_of_2) >> 64) + 1;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bound, ~std::uint32_t{0}));
}

std::size_t rendezvous::nearest(std::uint32_t segment, std::span<fit> best) const noexcept {
  static const rendezvous_kernels::search search = rendezvous_kernels::choose();
  std::size_t found = 0;
  std::uint32_t limit = ~std::uint32_t{0};
  std::array<std::uint32_t, lanes> bounds;
  for (std::size_t group = 0;; ++group) {
    group = search(groups_.data(), group, groups_.size(), segment, bits_, limit, bounds.data());
    if (group == groups_.size()) {
      return found;
    }
    const std::size_t end = std::min(lanes, nodes_.size() - group * lanes);
    for (std::size_t lane = 0; lane < end; ++lane) {
      if (bounds[lane] > limit) {
        continue;
      }
      const fit candidate = of(static_cast<std::uint32_t>(group * lanes + lane), segment);
      if (found == best.size() && !(candidate < best[found - 1])) {
        continue;
      }
      found += found < best.size() ? 1U : 0U;
      std::size_t at = found - 1;
      for (; at > 0 && candidate < best[at - 1]; --at) {
        best[at] = best[at - 1];
      }
      best[at] = candidate;
      if (found == best.size()) {
        limit = bound_of(best[found - 1].score);
      }
    }
  }
}

std::size_t rendezvous::bytes() const noexcept {
  return orders_.capacity() * sizeof(permutation) + nodes_.capacity() * sizeof(scored_node) +
         groups_.capacity() * sizeof(lane_group);
}

}  // namespace lifering::ring_detail
