// What Envoy's two placements have in common: what they refuse, weights as parts of their sum in
// double precision, and the table of its ring, which also takes hashes.
#pragma once

#include <cstdint>
#include <lifering/compat.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ring/compat/servers.hpp"
#include "ring/compat/wide_circle.hpp"
#include "ring/foreign.hpp"

namespace lifering::compat {

/// The greatest weight that a server may have there.
inline constexpr std::uint32_t envoy_weight_max = 100'000'000;

/// Weights that can't be said there, and hash keys that two servers share.
inline std::optional<problem> refuse_servers(std::string_view system, ring_detail::node_span nodes,
                                             const std::vector<server>& servers,
                                             std::uint32_t unit) {
  if (auto found = refuse_weights(system, nodes, unit, envoy_weight_max)) return found;
  std::vector<std::pair<std::string, const ring_node*>> texts;
  for (const server& each : servers) {
    texts.emplace_back(std::string{each.id}, each.node);
  }
  return refuse_equal(system, texts);
}

struct normal_weights {
  std::vector<double> parts;  ///< Of each server.
  double least = 1;
  double greatest = 0;
};

inline normal_weights normalise(const std::vector<server>& servers) {
  normal_weights result;
  const auto sum = static_cast<double>(weight_of(servers));
  for (const server& each : servers) {
    const double part = static_cast<double>(each.weight) / sum;
    result.parts.push_back(part);
    result.least = part < result.least ? part : result.least;
    result.greatest = part > result.greatest ? part : result.greatest;
  }
  return result;
}

class envoy_table final : public ring_detail::foreign_table {
 public:
  envoy_table(envoy_ring::hashes hash, wide_circle circle)
      : hash_(hash), circle_(std::move(circle)) {}

  std::uint32_t place(std::string_view key) const noexcept override;

  /// The place of a request's hash.
  std::uint32_t place_of(std::uint64_t hash) const noexcept { return circle_.place(hash); }

  std::size_t bytes() const noexcept override { return sizeof *this + circle_.bytes(); }

 private:
  envoy_ring::hashes hash_;
  wide_circle circle_;
};

}  // namespace lifering::compat
