// The questions that one state answers.
#include <algorithm>
#include <lifering/ring.hpp>

#include "base/check.hpp"
#include "ring/arcs.hpp"
#include "ring/node_set.hpp"
#include "ring/preference.hpp"
#include "ring/snapshot.hpp"

namespace lifering {

const ring_node* ring_table::owner(std::string_view key) const noexcept {
  return key.empty() ? nullptr : state_->owner_at(state_->place(key));
}

void ring_table::owner(std::span<const std::string_view> keys,
                       std::span<const ring_node*> out) const noexcept {
  LIFERING_CHECK(keys.size() == out.size());
  state_->owners_of(keys, out.data());
}

std::uint32_t ring_table::place(std::string_view key) const noexcept {
  return state_->place(key);
}

const ring_node* ring_table::owner_at(std::uint32_t place) const noexcept {
  return state_->owner_at(place);
}

bool ring_table::owns(std::string_view name, std::string_view key) const noexcept {
  const ring_node* node = owner(key);
  return node != nullptr && node->name == name;
}

std::span<const ring_node* const> ring_table::nodes() const noexcept {
  return state_->nodes();
}

const ring_node* ring_table::find(std::string_view name) const noexcept {
  const auto [index, found] = ring_detail::find_node(state_->records(), name);
  return found ? nodes()[index] : nullptr;
}

std::size_t ring_table::points() const noexcept {
  return state_->size_in_points();
}
std::size_t ring_table::bytes() const noexcept {
  return state_->bytes();
}
std::uint64_t ring_table::fingerprint() const noexcept {
  return state_->fingerprint();
}
std::uint64_t ring_table::version() const noexcept {
  return state_->version();
}

const placement_options& ring_table::placement() const noexcept {
  return state_->rules().options;
}

std::uint64_t ring_table::share(std::string_view name) const {
  std::uint64_t sum = 0;
  std::uint64_t from = 0;
  for (const ring_detail::arc& arc : ring_detail::arcs_of(*state_)) {
    if (arc.owner != nullptr && arc.owner->name == name) {
      sum += std::uint64_t{arc.last} + 1 - from;
    }
    from = std::uint64_t{arc.last} + 1;
  }
  return sum;
}

ring_snapshot ring_table::keep() const {
  return ring_snapshot{state_->shared_from_this()};
}

ring_diff diff(const ring_table& before, const ring_table& after) {
  ring_diff result{before.keep(), after.keep()};
  result.ranges_ = ring_detail::compare(ring_detail::arcs_of(*before.state_),
                                        ring_detail::arcs_of(*after.state_));
  return result;
}

std::vector<moved_range> ring_diff::moved_to(std::string_view name) const& {
  std::vector<moved_range> found;
  std::copy_if(ranges_.begin(), ranges_.end(), std::back_inserter(found),
               [name](const moved_range& range) {
                 return range.new_owner != nullptr && range.new_owner->name == name;
               });
  return found;
}

std::vector<moved_range> ring_diff::moved_from(std::string_view name) const& {
  std::vector<moved_range> found;
  std::copy_if(ranges_.begin(), ranges_.end(), std::back_inserter(found),
               [name](const moved_range& range) {
                 return range.old_owner != nullptr && range.old_owner->name == name;
               });
  return found;
}

std::uint64_t ring_diff::moved() const noexcept {
  std::uint64_t sum = 0;
  for (const moved_range& range : ranges_) {
    sum += range.size();
  }
  return sum;
}

}  // namespace lifering
