#include "swim/broadcaster.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace lifering::swim {

std::size_t broadcaster::payload_max() const {
  const std::size_t budget = shared_.settings.datagram_budget;
  broadcast largest;
  largest.origin = shared_.self->name;
  largest.origin_epoch = shared_.self->epoch;
  largest.sequence = ~std::uint64_t{0};
  largest.payload.assign(budget, ' ');
  // Others pass it on beside their own names.
  const std::size_t sizes =
      size_bound(largest) + size_bound(sender{.name = std::string(name_max, ' ')});
  return budget - std::min(budget, sizes - budget);
}

bool broadcaster::send(const std::string& payload) {
  if (payload.size() > payload_max()) return false;
  broadcast made;
  made.origin = shared_.self->name;
  made.origin_epoch = shared_.self->epoch;
  made.sequence = shared_.self->broadcasts + 1;
  made.payload = payload;
  record changed = *shared_.self;
  changed.broadcasts = made.sequence;
  members_.publish(std::move(changed), gossip_class::metadata);
  shared_.broadcasts.put(made);
  return true;
}

broadcaster::progress& broadcaster::progress_of(row_id id) {
  const record& subject = *shared_.table.at(id).subject;
  progress& of = progress_[id];
  const std::uint64_t name = hash_bytes(subject.name);
  if (of.name != name || of.epoch != subject.epoch) {
    of = progress{};
    of.name = name;
    of.epoch = subject.epoch;
  }
  return of;
}

void broadcaster::on_record(row_id id, bool unknown) {
  const record& subject = *shared_.table.at(id).subject;
  if (subject.broadcasts == 0) return;
  progress& of = progress_of(id);
  // To one that has just come, what was sent before is history.
  const base::duration recent = 20 * base::duration(shared_.settings.timing.probe_interval);
  const bool newcomer = unknown && shared_.now - shared_.started < recent;
  if (newcomer) of.delivered = std::max(of.delivered, subject.broadcasts);
  of.sent = std::max(of.sent, subject.broadcasts);
  if (of.sent > window && of.delivered < of.sent - window) of.delivered = of.sent - window;
  expect_more(of);
}

void broadcaster::on_broadcast(const broadcast& heard) {
  if (shared_.is_self(heard.origin)) return;
  const row_id id = shared_.table.find(heard.origin);
  if (id == no_row || shared_.table.at(id).subject->epoch != heard.origin_epoch) {
    ++shared_.counters.broadcasts_early;  // its record comes, and then it is pulled
    return;
  }
  progress& of = progress_of(id);
  if (!mark(of, heard.sequence)) return;
  of.sent = std::max(of.sent, heard.sequence);
  expect_more(of);
  ++shared_.counters.broadcasts_delivered;
  shared_.broadcasts.put(heard);
  shared_.out->push(user_received{heard.origin, heard.payload, message_kind::broadcast});
}

bool broadcaster::mark(progress& of, std::uint64_t sequence) {
  if (sequence <= of.delivered || sequence - of.delivered > window) return false;
  const std::uint64_t bit = std::uint64_t{1} << (sequence - of.delivered - 1);
  if ((of.later & bit) != 0) return false;
  of.later |= bit;
  const auto run = static_cast<unsigned>(std::countr_one(of.later));
  of.delivered += run;
  of.later = run == window ? 0 : of.later >> run;
  return true;
}

void broadcaster::expect_more(progress& of) {
  if (of.delivered >= of.sent) {
    of.pull_at = base::never;
    of.pulls = 0;
    return;
  }
  if (of.pull_at != base::never) return;
  // Gossip brings it in a few rounds, or not at all.
  of.pull_at = shared_.now + 3 * base::duration(shared_.settings.timing.gossip_interval);
  next_pull_ = std::min(next_pull_, of.pull_at);
}

void broadcaster::advance() {
  if (next_pull_ > shared_.now) return;
  next_pull_ = base::never;
  for (auto& [id, of] : progress_) {
    if (of.pull_at <= shared_.now) pull(id, of);
    next_pull_ = std::min(next_pull_, of.pull_at);
  }
}

void broadcaster::pull(row_id id, progress& of) {
  const row& held = shared_.table.at(id);
  const bool stale = !held.subject || held.subject->epoch != of.epoch;
  if (stale || of.pulls >= pulls_max) {
    if (!stale) ++shared_.counters.broadcasts_missed;
    of.delivered = of.sent;
    of.pull_at = base::never;
    return;
  }
  // Its origin knows it best; should that not answer, anybody may.
  const bool from_origin = of.pulls++ % 2 == 0 && held.present();
  const row_id asked = from_origin ? id : shared_.table.random_other(shared_.random);
  of.pull_at = shared_.now +
               base::duration(shared_.settings.timing.gossip_interval) * std::min(of.pulls, 5u);
  if (asked == no_row) return;
  shared_.datagram(shared_.table.at(asked).subject->address).body =
      broadcast_pull{held.subject->name, of.epoch, of.delivered};
}

void broadcaster::on_pull(row_id by, const broadcast_pull& asked) {
  const endpoint to = shared_.table.at(by).subject->address;
  packet* answer = nullptr;
  std::size_t used = 0;
  std::size_t datagrams = 0;
  shared_.broadcasts.for_each_after(
      asked.origin, asked.epoch, asked.after, [&](const broadcast& kept) {
        const std::size_t bytes = size_bound(kept);
        if (!answer || used + bytes > shared_.settings.datagram_budget) {
          if (datagrams++ >= answer_max) return;
          answer = &shared_.datagram(to);
          used = size_bound(*answer);
        }
        if (datagrams > answer_max) return;
        answer->broadcasts.push_back(kept);
        used += bytes;
      });
}

}  // namespace lifering::swim
