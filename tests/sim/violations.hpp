// The list of invariants that a run found broken.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/node_set.hpp"
#include "sim/world.hpp"

namespace lifering::sim {

struct violation {
  duration at;  ///< Since the world began.
  node_id node;
  std::string what;
};

class violations {
 public:
  /// More than this aren't kept: the first ones tell.
  static constexpr std::size_t kept = 20;

  explicit violations(const world& clock) : clock_(clock) {}

  void add(node_id node, std::string what) {
    ++count_;
    if (list_.size() < kept) list_.push_back({clock_.elapsed(), node, std::move(what)});
  }

  const std::vector<violation>& list() const noexcept { return list_; }
  std::size_t count() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }

 private:
  const world& clock_;
  std::vector<violation> list_;
  std::size_t count_ = 0;
};

}  // namespace lifering::sim
