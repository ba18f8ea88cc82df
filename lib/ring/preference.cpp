// Walking the circle for replicas and for bounded loads.
#include "ring/preference.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace lifering {

namespace ring_detail {

bool preference::is_new(std::uint32_t slot) {
  const std::size_t earlier_ones = found_ - 1;
  if (earlier_ones < first_slots_.size()) {
    const auto end = first_slots_.begin() + static_cast<std::ptrdiff_t>(earlier_ones);
    if (std::find(first_slots_.begin(), end, slot) != end) {
      return false;
    }
    first_slots_[earlier_ones] = slot;
    return true;
  }
  if (seen_.empty()) {
    seen_.resize(state_.slots_end());
    for (const std::uint32_t earlier : first_slots_) {
      seen_[earlier] = true;
    }
  }
  if (seen_[slot]) {
    return false;
  }
  seen_[slot] = true;
  return true;
}

const ring_node* preference::next() {
  if (found_ == state_.owning_nodes()) {
    return nullptr;
  }
  ++found_;
  return state_.has_slots() ? next_fit() : next_point();
}

const ring_node* preference::next_fit() {
  const auto segment = static_cast<std::uint32_t>(index_);
  const std::uint32_t owner = state_.segments().get(segment);
  if (found_ == 1) {  // The table knows the owner, and with a cap only the table does.
    return state_.in_slot(owner);
  }
  const rendezvous& scores = state_.scores();
  if (fits_ == 0) {
    fits_ = scores.nearest(segment, std::span{first_fits_}.first(likely_));
  }
  std::uint32_t slot = owner;
  while (slot == owner) {
    if (next_fit_ == fits_ && all_fits_.empty()) {
      all_fits_.resize(scores.size());
      for (std::uint32_t node = 0; node < scores.size(); ++node) {
        all_fits_[node] = scores.of(node, segment);
      }
      std::sort(all_fits_.begin(), all_fits_.end());
    }
    slot = scores.slot((all_fits_.empty() ? first_fits_[next_fit_] : all_fits_[next_fit_]).node);
    ++next_fit_;
  }
  return state_.in_slot(slot);
}

const ring_node* preference::next_point() {
  const point_table& points = state_.point_ring();
  for (;;) {
    if (index_ == points.size()) {
      index_ = 0;
    }
    const std::uint32_t slot = points.owner(index_++);
    if (slot == 0) {  // A stretch that another system gives to nobody, see redis_slots.
      if (found_ == 1) {
        found_ = state_.owning_nodes();
        return nullptr;
      }
      continue;
    }
    if (is_new(slot)) {
      return state_.in_slot(slot);
    }
  }
}

const ring_node* zoned_preference::next_unskipped() {
  const ring_node* node = order_.next();
  while (node != nullptr && skip_ != nullptr && skip_->skips(*node)) {
    node = order_.next();
  }
  return node;
}

bool zoned_preference::is_used(const std::string& zone) const {
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    if (chosen_[i]->zone == zone) {
      return true;
    }
  }
  return false;
}

const ring_node* zoned_preference::next() {
  while (new_zones_ > 0) {
    const ring_node* node = next_unskipped();
    if (node == nullptr) {
      new_zones_ = 0;
    } else if (is_used(node->zone)) {
      passed_over_.push_back(node);
    } else {
      chosen_.push_back(node);
      --new_zones_;
      return node;
    }
  }
  return next_passed_over_ < passed_over_.size() ? passed_over_[next_passed_over_++]
                                                 : next_unskipped();
}

namespace {

/// The preference list of a place, as much as `out` holds; returns how many there are.
std::size_t fill(const snapshot& state, std::uint32_t place, std::span<const ring_node*> out,
                 const node_filter* skip) {
  zoned_preference order{state, place, out.size(), skip};
  std::size_t count = 0;
  while (count < out.size()) {
    const ring_node* node = order.next();
    if (node == nullptr) {
      break;
    }
    out[count++] = node;
  }
  return count;
}

}  // namespace

}  // namespace ring_detail

std::size_t ring_table::owners(std::string_view key, std::span<const ring_node*> out) const {
  return key.empty() ? 0 : ring_detail::fill(*state_, place(key), out, nullptr);
}

std::size_t ring_table::owners(std::string_view key, std::span<const ring_node*> out,
                               node_filter skip) const {
  return key.empty() ? 0 : ring_detail::fill(*state_, place(key), out, &skip);
}

std::vector<const ring_node*> ring_table::owners(std::string_view key, std::size_t n) const {
  std::vector<const ring_node*> out(std::min(n, size()));
  out.resize(owners(key, std::span{out}));
  return out;
}

std::vector<const ring_node*> ring_table::owners(std::string_view key, std::size_t n,
                                                 node_filter skip) const {
  std::vector<const ring_node*> out(std::min(n, size()));
  out.resize(owners(key, std::span{out}, skip));
  return out;
}

namespace ring_detail {
namespace {

/// The first node of an order that may take one more, or the first of all.
template <class Order, class MayTake>
const ring_node* first_with_room(Order order, MayTake may_take) {
  const ring_node* owner = order.next();
  for (const ring_node* node = owner; node != nullptr; node = order.next()) {
    if (may_take(*node)) {
      return node;
    }
  }
  return owner;
}

}  // namespace
}  // namespace ring_detail

const ring_node* ring_table::pick(std::string_view key, node_load load, std::uint64_t total,
                                  std::uint32_t factor) const {
  LIFERING_CHECK(factor > 1000);
  if (key.empty()) {
    return nullptr;
  }
  constexpr std::size_t likely = 4;
  if (const auto* foreign = state_->foreign(); foreign != nullptr && foreign->has_limits()) {
    return ring_detail::first_with_room(
        ring_detail::preference{*state_, place(key), likely},
        [&](const ring_node& node) { return load.of(node) < foreign->limit(node, total, factor); });
  }
  // Whole numbers throughout: load / (total + 1) < factor / 1000 * weight / weights.
  __extension__ using wide = unsigned __int128;
  const wide weights = wide{1000} * state_->weights();
  const wide allowed = wide{factor} * (wide{total} + 1);
  return ring_detail::first_with_room(
      ring_detail::zoned_preference{*state_, place(key), likely}, [&](const ring_node& node) {
        return load.of(node) * weights < allowed * node.weight.thousandths();
      });
}

const ring_node* ring_table::pick(std::string_view key, node_load load,
                                  std::uint32_t factor) const {
  std::uint64_t total = 0;
  for (const ring_node* node : nodes()) {
    total += load.of(*node);
  }
  return pick(key, load, total, factor);
}

}  // namespace lifering
