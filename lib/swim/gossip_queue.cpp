#include "swim/gossip_queue.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace lifering::swim {
namespace {

/// Reserved shares of a packet in per cent, by class; what a class doesn't use goes to the others
/// in order of urgency.
constexpr std::array<std::size_t, gossip_classes> reserved_percent{15, 20, 15, 15, 15, 10};

}  // namespace

update gossip_queue::entry::next_news() const {
  update made;
  made.kind = claim;
  made.subject = about;
  made.incarnation = incarnation;
  made.witnesses = witnesses;
  made.failures = failures;
  if (!accusers.empty()) {
    const accuser& by = accusers[sent % accusers.size()];
    made.accuser = by.name;
    made.accuser_epoch = by.epoch;
    made.refused = by.refused;
  }
  return made;
}

void gossip_queue::put(row_id subject, gossip_class kind, const update& news) {
  LIFERING_CHECK(news.subject != nullptr);
  if (subject >= by_row_.size()) by_row_.resize(subject + 1, none);
  remove(subject);
  if (size_bound(news) > largest_) return;
  std::uint32_t index;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  entry& added = entries_[index];
  added.about = news.subject;
  added.incarnation = news.incarnation;
  added.witnesses = news.witnesses;
  added.failures = news.failures;
  added.bytes = static_cast<std::uint32_t>(size_bound(news));
  added.subject = subject;
  added.sent = 0;
  added.claim = news.kind;
  added.kind = kind;
  added.accusers.clear();
  if (!news.accuser.empty()) {
    added.accusers.push_back({news.accuser, news.accuser_epoch, news.refused});
  }
  by_row_[subject] = index;
  push_front(index);
  ++size_;
  ++fresh_;
  ++generation_;
  ++counts_[static_cast<std::size_t>(kind)];
}

bool gossip_queue::add_accuser(row_id subject, std::string_view name, std::uint64_t epoch,
                               bool refused) {
  if (subject >= by_row_.size() || by_row_[subject] == none) return false;
  const std::uint32_t index = by_row_[subject];
  entry& held = entries_[index];
  if (held.kind != gossip_class::suspicion || held.accusers.size() >= suspicion::accusers_max) {
    return false;
  }
  unlink(index);
  if (held.sent != 0) ++fresh_;
  ++generation_;
  held.sent = 0;
  // The newest accuser goes first: the others were told of already.
  held.accusers.insert(held.accusers.begin(), accuser{std::string(name), epoch, refused});
  // It goes out in the name of any of them, so it counts with the largest.
  held.bytes = std::max(held.bytes, static_cast<std::uint32_t>(size_bound(held.next_news())));
  push_front(index);
  return true;
}

void gossip_queue::remove(row_id subject) noexcept {
  if (subject >= by_row_.size() || by_row_[subject] == none) return;
  const std::uint32_t index = by_row_[subject];
  unlink(index);
  drop(index);
}

void gossip_queue::return_storage() noexcept {
  if (size_ != 0 || entries_.size() <= kept) return;
  entries_.clear();
  free_ = std::vector<std::uint32_t>();  // Not {}, which would keep it.
  taken_ = std::vector<std::uint32_t>();
}

void gossip_queue::clear() noexcept {
  for (row_id subject = 0; subject < by_row_.size(); ++subject)
    remove(subject);
}

std::size_t gossip_queue::take(std::size_t budget, unsigned limit, row_id except,
                               std::vector<update>& out) {
  if (limit < limit_) drop_spent(limit);
  limit_ = limit;
  if (size_ == 0) return 0;
  std::size_t used = 0;
  taken_.clear();
  for (std::size_t kind = 0; kind < gossip_classes; ++kind) {
    if (counts_[kind] == 0) continue;
    const std::size_t share = std::min(budget * reserved_percent[kind] / 100, budget - used);
    used += take_class(kind, share, limit, except, out);
  }
  for (std::size_t kind = 0; kind < gossip_classes && used < budget; ++kind) {
    if (counts_[kind] != 0) used += take_class(kind, budget - used, limit, except, out);
  }
  for (const std::uint32_t index : taken_) {
    if (entries_[index].sent >= limit)
      drop(index);
    else
      push_back(index);
  }
  return_storage();
  return used;
}

void gossip_queue::show(std::size_t budget, std::vector<update>& out) const {
  for (const auto& levels_of_class : lists_) {
    for (const list& level : levels_of_class) {
      for (std::uint32_t index = level.front(); index != none;
           index = entries_[index].links.after) {
        const entry& candidate = entries_[index];
        if (candidate.bytes > budget) return;
        budget -= candidate.bytes;
        out.push_back(candidate.next_news());
      }
    }
  }
}

void gossip_queue::drop_spent(unsigned limit) noexcept {
  // The cluster shrank, and with it the limit: what was sent more often already would never be
  // taken again.
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    const entry& e = entries_[index];
    if (e.subject == no_row || by_row_[e.subject] != index || e.sent < limit) continue;
    unlink(index);
    drop(index);
  }
}

std::size_t gossip_queue::take_class(std::size_t kind, std::size_t budget, unsigned limit,
                                     row_id except, std::vector<update>& out) {
  std::size_t used = 0;
  unsigned too_large = 0;
  for (unsigned level = 0; level < std::min(levels, limit + 1); ++level) {
    for (std::uint32_t index = lists_[kind][level].front(); index != none;) {
      entry& candidate = entries_[index];
      const std::uint32_t following = candidate.links.after;
      if (candidate.subject != except) {
        if (used + candidate.bytes > budget) {
          // A few smaller ones may still fit; a long search isn't worth it.
          if (++too_large == 4) return used;
        } else {
          unlink(index);
          out.push_back(candidate.next_news());
          used += candidate.bytes;
          if (candidate.sent++ == 0) --fresh_;
          taken_.push_back(index);
        }
      }
      index = following;
    }
  }
  return used;
}

gossip_queue::list& gossip_queue::list_of(const entry& e) noexcept {
  const unsigned level = std::min<unsigned>(e.sent, levels - 1);
  return lists_[static_cast<std::size_t>(e.kind)][level];
}

void gossip_queue::push_front(std::uint32_t index) noexcept {
  list_of(entries_[index]).push_front(index, links_by_index());
}

void gossip_queue::push_back(std::uint32_t index) noexcept {
  list_of(entries_[index]).push_back(index, links_by_index());
}

void gossip_queue::unlink(std::uint32_t index) noexcept {
  list_of(entries_[index]).erase(index, links_by_index());
}

void gossip_queue::drop(std::uint32_t index) noexcept {
  entry& e = entries_[index];
  LIFERING_CHECK(by_row_[e.subject] == index);
  by_row_[e.subject] = none;
  --counts_[static_cast<std::size_t>(e.kind)];
  if (e.sent == 0) --fresh_;
  e.about.reset();
  --size_;
  free_.push_back(index);
}

}  // namespace lifering::swim
