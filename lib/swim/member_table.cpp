#include "swim/member_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.hpp"

namespace lifering::swim {

row_id member_table::find(std::string_view name, std::uint64_t hash) const noexcept {
  return index_.find(hash, [&](row_id id) { return rows_[id].subject->name == name; });
}

row_id member_table::insert(record_ptr subject, std::uint64_t incarnation, member_state state,
                            bool probed, base::time_point since, base::rng& random) {
  LIFERING_CHECK(subject);
  const std::uint64_t hash = hash_bytes(subject->name);
  LIFERING_CHECK(find(subject->name, hash) == no_row);
  row_id id;
  if (free_.empty()) {
    id = static_cast<row_id>(rows_.size());
    rows_.emplace_back();
    probed_.push_back(probed);
  } else {
    id = free_.back();
    free_.pop_back();
    probed_[id] = probed;
  }
  row& added = rows_[id];
  added = row{};
  added.subject = std::move(subject);
  added.incarnation = incarnation;
  added.state = state;
  added.since = since;
  ++size_;
  index_.insert(id, [this](row_id of) { return hash_of(of); });
  count(added, hash, true);
  if (added.present()) {
    if (probed) enter_order(id, random);
  } else {
    bury(id, since);
  }
  return id;
}

void member_table::change(row_id id, record_ptr subject, std::uint64_t incarnation,
                          member_state state, base::time_point now, base::rng& random) {
  row& held = rows_[id];
  const bool was_present = held.present();
  const bool new_life = subject && subject->epoch != held.subject->epoch;
  LIFERING_CHECK(!subject || subject->name == held.subject->name);
  LIFERING_CHECK(new_life || state == member_state::left || incarnation >= held.incarnation);
  const std::uint64_t hash = hash_bytes(held.subject->name);
  count(held, hash, false);
  if (subject) held.subject = std::move(subject);
  held.incarnation = incarnation;
  if (new_life) {
    held.ever_heard = held.agrees = false;
    held.failures = 0;
  }
  const bool anew = state != held.state || new_life;
  if (anew) held.since = now;
  held.state = state;
  count(held, hash, true);
  if (was_present && !held.present()) {
    if (held.order_slot != no_row) leave_order(id);
    graves_.push_back({id, now});
  } else if (!was_present && held.present() && probed_[id]) {
    enter_order(id, random);
  } else if (!was_present && !held.present() && anew) {
    graves_.push_back({id, now});  // the entry of before no longer counts
  }
}

void member_table::erase(row_id id) {
  row& gone = rows_[id];
  count(gone, hash_bytes(gone.subject->name), false);
  if (gone.order_slot != no_row) leave_order(id);
  index_.erase(id, [this](row_id of) { return hash_of(of); });
  gone = row{};
  free_.push_back(id);
  --size_;
}

void member_table::bury(row_id id, base::time_point since) {
  // By time, though we may be told of an old grave late.
  auto place = graves_.end();
  while (place != graves_.begin() && std::prev(place)->since > since)
    --place;
  graves_.insert(place, {id, since});
}

void member_table::mark_failures(row_id id, std::uint32_t failures,
                                 base::time_point when) noexcept {
  rows_[id].failures = static_cast<std::uint8_t>(std::min<std::uint32_t>(failures, 255));
  rows_[id].failed_at = when;
}

void member_table::mark_heard(row_id id, base::time_point now, bool agrees) noexcept {
  row& held = rows_[id];
  held.heard = now;
  held.ever_heard = true;
  held.agrees = agrees;
}

row_id member_table::next_in_round(base::rng& random) {
  if (order_.empty()) return no_row;
  if (cursor_ >= order_.size()) {
    random.shuffle(std::span(order_));
    for (std::size_t i = 0; i < order_.size(); ++i) {
      rows_[order_[i]].order_slot = static_cast<std::uint32_t>(i);
    }
    cursor_ = 0;
  }
  return order_[cursor_++];
}

row_id member_table::random_other(base::rng& random) const {
  return order_.empty() ? no_row : order_[static_cast<std::size_t>(random.below(order_.size()))];
}

row_id member_table::oldest_grave() {
  while (!graves_.empty()) {
    const grave& oldest = graves_.front();
    const row& candidate = rows_[oldest.id];
    if (candidate.subject && !candidate.present() && candidate.since <= oldest.since) {
      return oldest.id;
    }
    graves_.pop_front();
  }
  return no_row;
}

row_id member_table::random_failed(base::rng& random, std::size_t within) {
  if (oldest_grave() == no_row) return no_row;
  const std::size_t range = graves_.size() < within ? graves_.size() : within;
  const std::size_t start = graves_.size() - range;
  const auto offset = static_cast<std::size_t>(random.below(range));
  for (std::size_t i = 0; i < range; ++i) {
    const grave& at = graves_[start + (offset + i) % range];
    const row& candidate = rows_[at.id];
    if (candidate.subject && candidate.state == member_state::failed) return at.id;
  }
  return no_row;
}

void member_table::enter_order(row_id id, base::rng& random) {
  const auto last = static_cast<std::uint32_t>(order_.size());
  order_.push_back(id);
  const auto place = static_cast<std::uint32_t>(random.below(last + 1));
  std::swap(order_[place], order_[last]);
  rows_[order_[last]].order_slot = last;
  rows_[order_[place]].order_slot = place;
}

void member_table::leave_order(row_id id) {
  const auto move = [this](std::size_t from, std::size_t to) {
    if (from == to) return;
    order_[to] = order_[from];
    rows_[order_[to]].order_slot = static_cast<std::uint32_t>(to);
  };
  std::size_t hole = rows_[id].order_slot;
  if (hole < cursor_) {  // keep those who wait for their turn behind the cursor
    --cursor_;
    move(cursor_, hole);
    hole = cursor_;
  }
  move(order_.size() - 1, hole);
  order_.pop_back();
  rows_[id].order_slot = no_row;
}

void member_table::count(const row& value, std::uint64_t hash, bool add) noexcept {
  if (!value.present()) return;
  const std::uint64_t part = digest_of(hash, value.subject->epoch, value.subject->incarnation);
  const std::uint64_t change = add ? part : std::uint64_t(0) - part;
  present_ += add ? 1 : std::size_t(0) - 1;
  digest_ += change;
  buckets_[hash % view_buckets_max] += change;
}

std::uint64_t member_table::bucket_digest(std::size_t bucket, std::size_t count) const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = bucket; i < view_buckets_max; i += count)
    sum += buckets_[i];
  return sum;
}

row_id member_table::find_hash(std::uint64_t name_hash) const noexcept {
  return index_.find(name_hash, [&](row_id id) { return hash_of(id) == name_hash; });
}

}  // namespace lifering::swim
