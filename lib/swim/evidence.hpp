// The order of claims about one member (SWIM 4.2, with lives): which of two wins.
#pragma once

#include <compare>
#include <cstdint>
#include <lifering/member.hpp>

namespace lifering::swim {

/// What a claim says, without who says it.
struct evidence {
  std::uint64_t epoch = 0;
  std::uint64_t incarnation = 0;
  member_state state = member_state::alive;

  friend bool operator==(const evidence&, const evidence&) = default;
};

/// A newer life beats every claim about an older one. Within a life, leaving is final; else
/// alive(i) < suspect(i) < failed(i) < alive(i + 1) < ...
constexpr std::strong_ordering operator<=>(const evidence& a, const evidence& b) noexcept {
  if (const auto order = a.epoch <=> b.epoch; order != 0) return order;
  const bool a_left = a.state == member_state::left;
  const bool b_left = b.state == member_state::left;
  if (a_left || b_left) return a_left <=> b_left;
  if (const auto order = a.incarnation <=> b.incarnation; order != 0) return order;
  return a.state <=> b.state;
}

static_assert(member_state::alive < member_state::suspect &&
              member_state::suspect < member_state::failed);

}  // namespace lifering::swim
