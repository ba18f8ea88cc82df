#include "wire/replay_guard.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "swim/record.hpp"

namespace lifering::wire {

bool replay_window::accept(std::uint64_t number) noexcept {
  if (number == 0) return false;
  const std::uint64_t word = number / word_bits;
  if (number > highest_) {
    // The words that the window moves over begin anew; after a long step all of them do.
    const std::uint64_t passed = word - highest_ / word_bits;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(passed, words); ++i) {
      seen_[(word - i) % words] = 0;
    }
    highest_ = number;
  } else if (highest_ - number >= width) {
    return false;
  }
  const std::uint64_t bit = std::uint64_t{1} << (number % word_bits);
  std::uint64_t& seen = seen_[word % words];
  if ((seen & bit) != 0) return false;
  seen |= bit;
  return true;
}

void replay_window::begin_after(std::uint64_t number) noexcept {
  if (number > highest_) highest_ = number;
  seen_.fill(~std::uint64_t{0});
  // The numbers above it in its own word are still to come.
  const std::uint64_t beyond = ~std::uint64_t{0} << (highest_ % word_bits);
  seen_[highest_ / word_bits % words] &= ~(beyond << 1);
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
    by_recency_.splice(by_recency_.begin(), by_recency_, known->second);
    return known->second->window.accept(number) ? verdict::fresh : verdict::repeated;
  }
  if (number == 0) return verdict::repeated;
  LIFERING_CHECK(add(name, epoch).window.accept(number));
  return verdict::first;
}

replay_guard::life& replay_guard::add(std::string_view name, std::uint64_t epoch) {
  if (windows_.size() == lives_max_) {
    const life& oldest = by_recency_.back();
    windows_.erase(key{oldest.name, oldest.epoch});
    by_recency_.pop_back();
  }
  by_recency_.push_front(life{std::string(name), epoch, {}});
  const auto added = by_recency_.begin();
  windows_.emplace(key{added->name, epoch}, added);
  return *added;
}

void replay_guard::prove(std::string_view name, std::uint64_t epoch, std::uint64_t number) {
  const auto known = windows_.find(key{name, epoch});
  life& subject = known != windows_.end() ? *known->second : add(name, epoch);
  if (!subject.proven) subject.window.begin_after(number);
  subject.proven = true;
}

bool replay_guard::is_proven(std::string_view name, std::uint64_t epoch) const {
  const auto known = windows_.find(key{name, epoch});
  return known != windows_.end() && known->second->proven;
}

}  // namespace lifering::wire
