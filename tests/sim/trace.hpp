// What happened, as one number and, when wanted, as text.
//
// The number is a hash over everything that machines were told and did, in order. Equal seeds must
// give equal numbers on every compiler and in every build type.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "sim/node_set.hpp"
#include "sim/world.hpp"

namespace lifering::sim {

class trace {
 public:
  /// Receives each line without its end.
  using sink = std::function<void(std::string_view)>;

  explicit trace(const world& clock) : clock_(clock) {}

  void print_to(sink lines) { lines_ = std::move(lines); }
  bool prints() const noexcept { return static_cast<bool>(lines_); }

  /// One thing that happened to, or was done by, a member.
  void note(node_id node, std::uint64_t kind, std::uint64_t value);
  void note(node_id node, std::uint64_t kind, std::span<const std::uint8_t> bytes);

  /// A line for people; call only if prints().
  void line(node_id node, std::string_view text) const;

  std::uint64_t hash() const noexcept { return hash_; }

 private:
  const world& clock_;
  sink lines_;
  std::uint64_t hash_ = 0;
};

}  // namespace lifering::sim
