#include "swim/disseminator.hpp"

#include <algorithm>

namespace lifering::swim {
namespace {

// News that arrives together leaves together, and a storm of it leaves in bounded rounds.
constexpr base::duration gather = std::chrono::milliseconds(1);
constexpr base::duration urgent_gap = std::chrono::milliseconds(10);

}  // namespace

disseminator::disseminator(core& shared)
    : shared_(shared),
      next_round_(shared.now + shared.jitter(shared.settings.timing.gossip_interval)),
      next_urgent_(base::never),
      last_urgent_(shared.now - urgent_gap) {}

void disseminator::news_queued() {
  if (!shared_.settings.parts.urgent_gossip || fresh() == 0 || generation() == untold_) return;
  if (shared_.others() == 0) return;  // News waits for the first who comes.
  if (next_urgent_ == base::never) {
    next_urgent_ = std::max(shared_.now + gather, last_urgent_ + urgent_gap);
  }
}

void disseminator::advance() {
  if (next_urgent_ <= shared_.now) {
    next_urgent_ = base::never;
    last_urgent_ = shared_.now;
    const std::size_t before = fresh();
    if (before > 0) round();
    // What nobody could be told, as all that we know is about the only other member, waits for the
    // usual rounds.
    if (fresh() == before) untold_ = generation();
    news_queued();
  }
  if (next_round_ <= shared_.now) {
    base::duration interval = shared_.settings.timing.gossip_interval;
    if (shared_.settings.parts.gossip_rounds && waiting()) {
      round();
      interval = pace(interval);
    }
    next_round_ += interval;
    if (next_round_ <= shared_.now) next_round_ = shared_.now + interval;
  }
}

void disseminator::round() {
  const std::size_t wanted =
      std::min<std::size_t>(shared_.settings.timing.gossip_peers, shared_.others());
  targets_.clear();
  carried_ = 0;
  for (std::size_t draws = 0; targets_.size() < wanted && draws < 8 * wanted; ++draws) {
    const row_id drawn = shared_.table.random_other(shared_.random);
    if (std::find(targets_.begin(), targets_.end(), drawn) == targets_.end()) {
      targets_.push_back(drawn);
    }
  }
  for (const row_id target : targets_) {
    if (!waiting()) return;
    tell(target);
  }
  // Now and then one that failed a short while ago: if it lives, this is how it learns what is
  // said of it.
  if (shared_.random.chance(1, 4)) {
    const row_id gone = shared_.table.random_failed(shared_.random, 32);
    if (gone != no_row && shared_.now - shared_.table.at(gone).since <
                              60 * base::duration(shared_.settings.timing.probe_interval)) {
      tell(gone);
    }
  }
}

std::size_t disseminator::fresh() const noexcept {
  return shared_.gossip.fresh() + shared_.broadcasts.fresh();
}

std::uint64_t disseminator::generation() const noexcept {
  return shared_.gossip.generation() + shared_.broadcasts.generation();
}

bool disseminator::waiting() const noexcept {
  return shared_.gossip.size() + shared_.broadcasts.waiting() > 0;
}

void disseminator::tell(row_id id) {
  packet& told = shared_.datagram(shared_.table.at(id).subject->address);
  shared_.piggyback(told, id);
  carried_ = std::max(carried_, told.updates.size());
}

base::duration disseminator::pace(base::duration interval) const noexcept {
  const std::size_t left = shared_.gossip.size();
  if (carried_ == 0 || left <= carried_) return interval;
  return std::max<base::duration>(
      interval * static_cast<std::int64_t>(carried_) / static_cast<std::int64_t>(left), urgent_gap);
}

base::time_point disseminator::next_deadline() const noexcept {
  const bool rounds = shared_.settings.parts.gossip_rounds && waiting() && shared_.others() > 0;
  return std::min(rounds ? next_round_ : base::never, next_urgent_);
}

}  // namespace lifering::swim
