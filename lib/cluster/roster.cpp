#include "cluster/roster.hpp"

#include <algorithm>
#include <utility>

namespace lifering::cluster_detail {
namespace {

bool in_ring(const member* subject) noexcept {
  return subject != nullptr && subject->present() && subject->phase == member_phase::serving;
}

/// Whether a step from one state of a member to the next makes another ring. Null: not known.
bool changes_ring(const member* before, const member* after) noexcept {
  if (in_ring(before) != in_ring(after)) return true;
  return in_ring(after) && (before->weight != after->weight || before->zone != after->zone);
}

}  // namespace

member_pointers::const_iterator find_place(const member_pointers& in, std::string_view name) {
  return std::lower_bound(in.begin(), in.end(), name,
                          [](const auto& held, std::string_view sought) {
                            return held->name < sought;  // std::string compares unsigned bytes
                          });
}

member_pointers& roster::draft() {
  if (!draft_) draft_ = std::make_shared<member_pointers>(*published_);
  return *draft_;
}

std::optional<seen_state> roster::apply(std::shared_ptr<const member> subject) {
  auto& members = draft();
  const auto place = members.begin() + (find_place(members, subject->name) - members.cbegin());
  const bool known = place != members.end() && (*place)->name == subject->name;
  const member* held = known ? place->get() : nullptr;
  const auto before = known ? std::optional(seen_state{held->state, held->epoch}) : std::nullopt;
  if (changes_ring(held, subject.get())) ++ring_changes_;
  if (subject->present()) {
    if (known) {
      *place = std::move(subject);
    } else {
      members.insert(place, std::move(subject));
    }
  } else if (known) {
    members.erase(place);
  }
  return before;
}

void roster::clear() {
  auto& members = draft();
  for (const auto& held : members) {
    if (in_ring(held.get())) ++ring_changes_;
  }
  members.clear();
}

roster::list roster::publish() {
  if (draft_) {
    draft_->shrink_to_fit();  // It may stay the last one for long.
    published_ = std::exchange(draft_, nullptr);
  }
  return published_;
}

std::size_t roster::take_ring_changes() noexcept {
  return std::exchange(ring_changes_, 0);
}

std::vector<ring_node> ring_nodes(const member_pointers& members) {
  std::vector<ring_node> nodes;
  nodes.reserve(members.size());
  for (const auto& held : members) {
    if (in_ring(held.get())) nodes.push_back({held->name, held->weight, held->zone});
  }
  return nodes;
}

}  // namespace lifering::cluster_detail
