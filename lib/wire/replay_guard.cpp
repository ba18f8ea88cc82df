#include "wire/replay_guard.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "swim/record.hpp"

namespace lifering::wire {

static_assert(replay_window::width <= UINT16_MAX, "the low bits of a kept number tell which it is");

/// Kept numbers lie within the width below the highest.
std::uint64_t replay_window::full(std::uint16_t low) const noexcept {
  return highest_ - static_cast<std::uint16_t>(highest_ - low);
}

bool replay_window::accept(std::uint64_t number) noexcept {
  if (number <= floor_) return false;
  const auto kept_end = kept_.begin() + count_;
  if (number > highest_) {
    advance(number);
  } else if (std::find(kept_.begin(), kept_end, static_cast<std::uint16_t>(number)) != kept_end) {
    return false;
  }
  if (count_ == kept_max) forget_smallest();
  if (number <= floor_) return false;
  kept_[count_++] = static_cast<std::uint16_t>(number);
  return true;
}

void replay_window::advance(std::uint64_t number) noexcept {
  const std::uint64_t floor = std::max(floor_, number > width ? number - width : 0);
  std::size_t left = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (full(kept_[i]) > floor) kept_[left++] = kept_[i];
  }
  count_ = left;
  floor_ = floor;
  highest_ = number;
}

void replay_window::forget_smallest() noexcept {
  const auto kept_end = kept_.begin() + count_;
  const auto smallest = std::min_element(kept_.begin(), kept_end,
                                         [this](auto a, auto b) { return full(a) < full(b); });
  floor_ = full(*smallest);
  *smallest = kept_[--count_];
}

void replay_window::begin_after(std::uint64_t number) noexcept {
  highest_ = std::max(highest_, number);
  floor_ = highest_;
  count_ = 0;
}

std::size_t replay_guard::hash::operator()(const key& of) const noexcept {
  constexpr std::uint64_t golden_ratio = 0x9e37'79b9'7f4a'7c15;
  return static_cast<std::size_t>(swim::hash_bytes(of.name) ^ of.epoch * golden_ratio);
}

replay_guard::replay_guard(std::size_t lives_max) : lives_max_(lives_max) {
  LIFERING_CHECK(lives_max > 0);
}

replay_guard::verdict replay_guard::accept(std::string_view name, std::uint64_t epoch,
                                           std::uint64_t number) {
  const auto known = windows_.find(key{name, epoch});
  if (known != windows_.end()) {
    auto& list = list_of(*known->second);
    list.splice(list.begin(), list, known->second);
    return known->second->window.accept(number) ? verdict::fresh : verdict::repeated;
  }
  if (number == 0) return verdict::repeated;
  LIFERING_CHECK(add(name, epoch).window.accept(number));
  return verdict::first;
}

replay_guard::life& replay_guard::add(std::string_view name, std::uint64_t epoch) {
  if (windows_.size() == lives_max_) {
    auto& list = unproven_.empty() ? proven_ : unproven_;
    windows_.erase(key{list.back().name, list.back().epoch});
    list.pop_back();
  }
  unproven_.push_front(life{std::string(name), epoch, {}});
  const auto added = unproven_.begin();
  windows_.emplace(key{added->name, epoch}, added);
  return *added;
}

void replay_guard::prove(std::string_view name, std::uint64_t epoch, std::uint64_t number) {
  auto known = windows_.find(key{name, epoch});
  if (known == windows_.end()) {
    add(name, epoch);
    known = windows_.find(key{name, epoch});
  }
  life& subject = *known->second;
  if (subject.proven) return;
  subject.window.begin_after(number);
  subject.proven = true;
  proven_.splice(proven_.begin(), unproven_, known->second);
}

bool replay_guard::is_proven(std::string_view name, std::uint64_t epoch) const {
  const auto known = windows_.find(key{name, epoch});
  return known != windows_.end() && known->second->proven;
}

}  // namespace lifering::wire
