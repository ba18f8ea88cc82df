#include "swim/hold_down.hpp"

#include <algorithm>
#include <cstdint>

namespace lifering::swim {
namespace {

constexpr unsigned doublings_max = 4;
constexpr int memory = 5;

}  // namespace

base::duration hold_time(unsigned failures, base::duration first) noexcept {
  if (failures < 2) return base::duration{};
  return first * (std::int64_t{1} << std::min(failures - 2, doublings_max));
}

base::duration failure_memory(unsigned failures, base::duration first) noexcept {
  return memory * first + hold_time(failures, first);
}

bool is_single_failure(std::size_t failed_lately, std::size_t present) noexcept {
  return 4 * failed_lately < failed_lately + present;
}

void own_hold::begin(unsigned failures, base::time_point now, base::duration first) noexcept {
  active_ = true;
  unwell_ = false;
  failures_ = failures;
  ends_ = now + hold_time(failures_, first);
}

void own_hold::relapse(base::time_point now, base::duration first) noexcept {
  if (!unwell_) ++failures_;
  unwell_ = true;
  ends_ = now + hold_time(failures_, first);
}

bool own_hold::stalled_lately(base::time_point now, base::duration first) const noexcept {
  return stalled_ != base::never && now - stalled_ < failure_memory(1, first);
}

}  // namespace lifering::swim
