#include "swim/metadata_puller.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

namespace lifering::swim {

void metadata_puller::on_record(row_id id) {
  const record& subject = *shared_.table.at(id).subject;
  if (!subject.lacks_metadata()) return;
  const auto known = std::find_if(wanted_.begin(), wanted_.end(),
                                  [id](const want& each) { return each.id == id; });
  if (known != wanted_.end() && known->epoch == subject.epoch &&
      known->hash == subject.metadata_hash) {
    return;
  }
  want& what = known != wanted_.end() ? *known : wanted_.emplace_back();
  under_way_ -= what.under_way;  // they will bring what nobody wants any more
  // All learn of a change at about one time. Spread out, the later ones find others that have it.
  const base::duration spread = 2 * base::duration(shared_.settings.timing.gossip_interval);
  what = {id, subject.epoch, subject.metadata_hash, shared_.now + shared_.jitter(spread), {}, 0, 0};
}

bool metadata_puller::still_wanted(const want& what) const noexcept {
  const row& held = shared_.table.at(what.id);
  return held.subject && held.present() && held.subject->epoch == what.epoch &&
         held.subject->metadata_hash == what.hash && held.subject->lacks_metadata();
}

void metadata_puller::advance() {
  std::erase_if(wanted_, [this](const want& each) {
    if (still_wanted(each)) return false;
    under_way_ -= each.under_way;
    return true;
  });
  for (want& each : wanted_)
    if (due(each) <= shared_.now) pull(each);
}

base::time_point metadata_puller::due(const want& what) const noexcept {
  if (what.under_way == 0) return under_way_ < at_once ? what.next_try : base::never;
  const bool more = what.under_way < for_one && under_way_ < at_once + spare;
  return more ? what.next_spare : base::never;
}

void metadata_puller::pull(want& what) {
  // Its member first, which has it for certain; then anybody in turns with it, since that one may
  // be overrun, or out of our reach.
  row_id from = what.id;
  if (what.tries % 2 == 1) {
    for (int draws = 0; draws < 4 && from == what.id; ++draws)
      from = shared_.table.random_other(shared_.random);
  }
  ++what.tries;
  const base::duration pause = shared_.settings.timing.gossip_interval;
  what.next_try = shared_.now + pause * std::min(what.tries, 16u) + shared_.jitter(pause);
  what.next_spare = shared_.now + base::duration(shared_.settings.timing.stream_timeout) / 10;
  const record& subject = *shared_.table.at(what.id).subject;
  const row_id id = what.id;
  const std::uint64_t hash = what.hash;
  const auto done = [this, id, hash](const stream_outcome& how) {
    if (!how.error) members_.take_metadata(id, hash, how.metadata);
    ended(id, hash);
  };
  const bool begun = streams_.fetch(shared_.table.at(from).subject->address,
                                    metadata_pull{subject.name, subject.epoch, hash}, done);
  if (!begun) return;
  ++what.under_way;
  ++under_way_;
}

void metadata_puller::ended(row_id id, std::uint64_t hash) {
  for (want& each : wanted_) {
    if (each.id != id || each.hash != hash || each.under_way == 0) continue;
    --each.under_way;
    --under_way_;
  }
}

base::time_point metadata_puller::next_deadline() const noexcept {
  base::time_point next = base::never;
  for (const want& each : wanted_)
    next = std::min(next, due(each));
  return next;
}

}  // namespace lifering::swim
