#include "sim/faults.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace lifering::sim {

faults::faults(node_id nodes) : per_node_(nodes + std::size_t{1}) {}

faults::cut_handle faults::cut(base::time_point, node_set from, node_set to) {
  cuts_.push_back({std::move(from), std::move(to), std::nullopt});
  active_cuts_.push_back(cuts_.size() - 1);
  return cuts_.size() - 1;
}

void faults::mend(base::time_point now, cut_handle which) {
  LIFERING_CHECK(which < cuts_.size());
  if (std::erase(active_cuts_, which) != 0) cuts_[which].ended = now;
}

bool faults::is_cut(node_id from, node_id to) const noexcept {
  return from != to && std::any_of(active_cuts_.begin(), active_cuts_.end(), [&](cut_handle i) {
           return cuts_[i].from.contains(from) && cuts_[i].to.contains(to);
         });
}

void faults::set_loss_out(base::time_point now, node_id node, ppm loss) {
  set_loss(now, per_node_[node], per_node_[node].loss_out, loss);
}

void faults::set_loss_in(base::time_point now, node_id node, ppm loss) {
  set_loss(now, per_node_[node], per_node_[node].loss_in, loss);
}

void faults::set_loss(base::time_point now, state& of, ppm& slot, ppm loss) {
  LIFERING_CHECK(loss <= certain);
  if ((slot > 0) != (loss > 0)) of.lossy.set(now, loss > 0);
  slot = loss;
}

void faults::heal(base::time_point now) {
  while (!active_cuts_.empty())
    mend(now, active_cuts_.back());
  for (auto& node : per_node_) {
    set_loss(now, node, node.loss_out, 0);
    set_loss(now, node, node.loss_in, 0);
  }
}

void faults::hampered(base::time_point now, node_id node, bool is) {
  per_node_[node].hampered.set(now, is);
}

void faults::stopped(base::time_point now, node_id node, bool is) {
  per_node_[node].stopped.set(now, is);
}

void faults::spell::set(base::time_point now, bool on) {
  if (on) {
    ++active;
  } else {
    LIFERING_CHECK(active > 0);
    --active;
    ended = now;
  }
}

bool faults::spell::within(base::time_point now, base::duration window) const noexcept {
  return active > 0 || (ended && now - *ended <= window);
}

bool faults::excuses(base::time_point now, node_id observer, node_id subject) const noexcept {
  const auto disturbed = [&](const state& node) {
    return node.lossy.within(now, excuse_time) || node.hampered.within(now, excuse_time);
  };
  if (disturbed(per_node_[observer]) || disturbed(per_node_[subject])) return true;
  if (per_node_[subject].stopped.within(now, excuse_time)) return true;
  return std::any_of(cuts_.begin(), cuts_.end(), [&](const one_way& item) {
    const bool lately = !item.ended || now - *item.ended <= excuse_time;
    return lately && ((item.from.contains(observer) && item.to.contains(subject)) ||
                      (item.from.contains(subject) && item.to.contains(observer)));
  });
}

bool faults::calm() const noexcept {
  return active_cuts_.empty() &&
         std::all_of(per_node_.begin(), per_node_.end(), [](const state& node) {
           return node.lossy.active == 0 && node.hampered.active == 0;
         });
}

}  // namespace lifering::sim
