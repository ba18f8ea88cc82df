#include "wire/replay_guard.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "swim/record.hpp"

namespace lifering::wire {

static_assert(replay_window::width <= UINT16_MAX, "the low bits of a kept number tell which it is");
static_assert(replay_window::kept_max <= UINT8_MAX);

/// Kept numbers lie within the width below the highest.
std::uint64_t replay_window::full(std::uint16_t low) const noexcept {
  return highest_ - static_cast<std::uint16_t>(highest_ - low);
}

bool replay_window::accept(std::uint64_t number) noexcept {
  if (number <= floor()) return false;
  const auto kept_end = kept_.begin() + count_;
  if (number > highest_) {
    advance(number);
  } else if (std::find(kept_.begin(), kept_end, static_cast<std::uint16_t>(number)) != kept_end) {
    return false;
  }
  if (count_ == kept_max) forget_smallest();
  if (number <= floor()) return false;
  kept_[count_++] = static_cast<std::uint16_t>(number);
  return true;
}

void replay_window::advance(std::uint64_t number) noexcept {
  const std::uint64_t new_floor = std::max(floor(), number > width ? number - width : 0);
  std::uint8_t left = 0;
  for (std::uint8_t i = 0; i < count_; ++i) {
    if (full(kept_[i]) > new_floor) kept_[left++] = kept_[i];
  }
  count_ = left;
  highest_ = number;
  span_ = static_cast<std::uint16_t>(number - new_floor);
}

void replay_window::forget_smallest() noexcept {
  const auto kept_end = kept_.begin() + count_;
  const auto smallest = std::min_element(kept_.begin(), kept_end,
                                         [this](auto a, auto b) { return full(a) < full(b); });
  span_ = static_cast<std::uint16_t>(highest_ - full(*smallest));
  *smallest = kept_[--count_];
}

void replay_window::begin_after(std::uint64_t number) noexcept {
  highest_ = std::max(highest_, number);
  span_ = 0;
  count_ = 0;
}

replay_guard::replay_guard(std::size_t lives_max) : lives_max_(lives_max) {
  LIFERING_CHECK(lives_max > 0 && lives_max < none);
}

replay_guard::slot replay_guard::find(std::uint64_t id) const {
  return static_cast<slot>(index_.find(id, [&](std::uint32_t i) { return lives_[i].id == id; }));
}

replay_guard::verdict replay_guard::accept(std::string_view name, std::uint64_t epoch,
                                           std::uint64_t number) {
  const auto id = swim::life_id(name, epoch);
  if (const slot known = find(id); known != none) {
    leave(known);
    enter(known);
    return lives_[known].window.accept(number) ? verdict::fresh : verdict::repeated;
  }
  if (number == 0) return verdict::repeated;
  LIFERING_CHECK(lives_[add(id)].window.accept(number));
  return verdict::first;
}

replay_guard::slot replay_guard::add(std::uint64_t id) {
  const auto id_in = [this](std::uint32_t which) { return lives_[which].id; };
  slot place;
  if (lives_.size() < lives_max_) {
    place = static_cast<slot>(lives_.size());
    lives_.emplace_back();
  } else {
    place = (unproven_.back() != none ? unproven_ : proven_).back();
    leave(place);
    index_.erase(place, id_in);
  }
  lives_[place] = life();
  lives_[place].id = id;
  index_.insert(place, id_in);
  enter(place);
  return place;
}

void replay_guard::enter(slot which) {
  list_of(lives_[which]).push_front(which, links_by_slot());
}

void replay_guard::leave(slot which) {
  list_of(lives_[which]).erase(which, links_by_slot());
}

void replay_guard::prove(std::string_view name, std::uint64_t epoch, std::uint64_t number) {
  const auto id = swim::life_id(name, epoch);
  const slot known = find(id);
  prove(known != none ? known : add(id), number);
}

void replay_guard::vouch(std::string_view name, std::uint64_t epoch, std::uint64_t number) {
  const auto id = swim::life_id(name, epoch);
  const slot known = find(id);
  if (known == none && lives_.size() == lives_max_ && unproven_.back() == none) return;
  prove(known != none ? known : add(id), number);
}

void replay_guard::prove(slot which, std::uint64_t number) {
  life& subject = lives_[which];
  if (subject.proven) return;
  subject.window.begin_after(number);
  leave(which);
  subject.proven = true;
  enter(which);
}

bool replay_guard::is_proven(std::string_view name, std::uint64_t epoch) const {
  const slot known = find(swim::life_id(name, epoch));
  return known != none && lives_[known].proven;
}

std::uint64_t replay_guard::last_proven(std::string_view name, std::uint64_t epoch) const {
  const slot known = find(swim::life_id(name, epoch));
  return known != none && lives_[known].proven ? lives_[known].window.highest() : 0;
}

}  // namespace lifering::wire
