#include "swim/reconciler.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/integer_log.hpp"

namespace lifering::swim {
namespace {

constexpr std::size_t bytes_per_hash = 8;

}  // namespace

reconciler::reconciler(core& shared, membership& members, synchronizer& streams)
    : shared_(shared),
      members_(members),
      streams_(streams),
      next_compare_(shared.now),
      next_push_pull_(shared.now + push_pull_period()) {}

std::size_t reconciler::room() const {
  // What a body may take beside the sender part; a few bytes are left for its own framing.
  const std::size_t sender_bytes =
      size_bound(sender{.name = shared_.self->name, .epoch = shared_.self->epoch});
  constexpr std::size_t framing = 40;
  return shared_.settings.datagram_budget -
         std::min(shared_.settings.datagram_budget, sender_bytes + framing);
}

void reconciler::digest_differs(row_id peer, std::uint64_t known_there) {
  if (!shared_.settings.parts.digest_sync || !shared_.settled || shared_.outdated) return;
  ++shared_.counters.digest_mismatches;
  // News in flight explains a difference; wait until it must have arrived.
  const base::duration gossip = shared_.settings.timing.gossip_interval;
  // On a network that loses much there is always some, so not for ever.
  const bool quiet = shared_.gossip.size() == 0 && shared_.now - shared_.view_changed >= gossip;
  if (!quiet && shared_.now - next_compare_ < 2 * gossip) return;
  // Where all run late, on one processor perhaps, they would tell each other the same again and
  // again, and run later yet.
  if (shared_.now < next_compare_ || shared_.now < shared_.behind_until) return;
  if (next_compare_ < shared_.view_changed) fruitless_ = 0;
  next_compare_ = shared_.now + gossip + shared_.jitter(gossip);
  // One that knows few of us lacks most and may not know us as members, whom alone it would answer;
  // and should the digests be of no help, a whole view is.
  const std::uint64_t known_here = shared_.table.present();
  const bool far_apart = 2 * known_there <= known_here || 2 * known_here <= known_there;
  if ((far_apart || ++fruitless_ % 4 == 0) && streams_.exchanges() == 0) {
    streams_.exchange(shared_.table.at(peer).subject->address, false, nullptr);
    return;
  }
  asked_ = 0;
  compare_with(peer);
}

void reconciler::send_compare(row_id peer) {
  shared_.datagram(shared_.table.at(peer).subject->address).body = compare_of(room());
  ++shared_.counters.compares_started;
}

void reconciler::compare_with(row_id peer) {
  send_compare(peer);
  // Where much is lost, one of the three packets of a comparison often is; the first two are asked
  // for again.
  awaited_ = peer;
  ++asked_;
  ask_again_ = shared_.now + shared_.ping_timeout();
}

base::duration reconciler::push_pull_period() noexcept {
  // Above 32 members the period grows with log2 of their number, as memberlist's does, so that
  // the load that whole views put on a cluster stays bounded.
  const auto period = base::duration(shared_.settings.timing.push_pull_interval);
  const std::size_t members = shared_.table.present();
  const unsigned scale = members > 32 ? base::ceil_log2(members) - 4 : 1;
  return period * scale / 2 + shared_.jitter(period * scale);
}

void reconciler::advance() {
  if (shared_.outdated && shared_.now >= next_refresh_) {
    next_refresh_ = shared_.now + base::duration(shared_.settings.timing.probe_interval);
    streams_.refresh();
  }
  if (awaited_ != no_row && shared_.now >= ask_again_) {
    const row_id peer = std::exchange(awaited_, no_row);
    const row& held = shared_.table.at(peer);
    const bool there = held.subject && held.present() && !shared_.outdated;
    if (there && asked_ < tries_max) compare_with(peer);
  }
  if (shared_.now < next_push_pull_) return;
  next_push_pull_ = shared_.now + push_pull_period();
  if (!periodic() || shared_.phase != life_phase::running || shared_.outdated) return;
  if (!shared_.settings.parts.digest_sync) return streams_.refresh();
  compare_with_somebody();
}

void reconciler::compare_with_somebody() {
  const row_id peer = shared_.table.random_other(shared_.random);
  if (peer != no_row) send_compare(peer);  // Whoever agrees doesn't answer; no matter.
}

void reconciler::after_stall(bool failed_perhaps) {
  if (!failed_perhaps && shared_.settings.parts.digest_sync) return compare_with_somebody();
  // Where all stand still again and again, whole views are what keeps them from running.
  if (streams_.exchanges() == 0) streams_.refresh();
}

bool reconciler::periodic() const noexcept {
  return shared_.settings.parts.push_pull && shared_.settings.timing.push_pull_interval.count() > 0;
}

base::time_point reconciler::next_deadline() const noexcept {
  base::time_point refresh = shared_.outdated ? next_refresh_ : base::never;
  if (awaited_ != no_row) refresh = std::min(refresh, ask_again_);
  return periodic() ? std::min(refresh, next_push_pull_) : refresh;
}

namespace {

/// As many as fit.
std::size_t bucket_count(std::size_t bytes) noexcept {
  std::size_t count = view_buckets_max;
  while (count > 1 && count * bytes_per_hash > bytes)
    count /= 2;
  return count;
}

}  // namespace

view_compare reconciler::compare_of(std::size_t bytes) const {
  const std::size_t count = bucket_count(bytes);
  view_compare ours;
  for (std::size_t bucket = 0; bucket < count; ++bucket) {
    ours.buckets.push_back(shared_.table.bucket_digest(bucket, count));
  }
  return ours;
}

void reconciler::knock(const endpoint& at) {
  packet& sent = shared_.datagram(at);
  sent.updates.push_back(shared_.update_of(shared_.self_row));
  const std::size_t taken = size_bound(sent.updates.back());
  sent.body = compare_of(room() - std::min(room(), taken));
  ++shared_.counters.compares_started;
}

void reconciler::welcome(row_id peer, std::uint64_t known_there) {
  // It may have knocked, and its knock can't have been answered yet.
  const bool knows_few = known_there > 0 && 2 * known_there <= shared_.table.present();
  if (!knows_few || !shared_.settings.parts.digest_sync) return;
  on_compare(peer, known_there, {std::vector<std::uint64_t>(bucket_count(room()))});
}

void reconciler::ask_about(row_id gone) {
  const row_id peer = shared_.table.random_other(shared_.random);
  if (peer == no_row || !shared_.settings.parts.digest_sync || shared_.outdated) return;
  send_delta(peer, {gone}, {});
}

bool reconciler::may_answer() {
  if (shared_.outdated) return false;
  if (shared_.now >= answers_until_) {
    answers_until_ = shared_.now + base::duration(shared_.settings.timing.probe_interval);
    scanned_ = 0;
    answers_ = 0;
  }
  scanned_ += 1 + shared_.table.slots();
  return scanned_ <= scanned_max && ++answers_ <= answers_max;
}

std::vector<std::vector<row_id>> reconciler::members_of(const std::vector<bool>& wanted,
                                                        std::size_t count) const {
  std::vector<std::vector<row_id>> found(count);
  for (row_id id = 0; id < shared_.table.slots(); ++id) {
    const row& held = shared_.table.at(id);
    if (!held.subject || !held.present()) continue;
    const std::size_t bucket = hash_bytes(held.subject->name) % count;
    if (wanted[bucket]) found[bucket].push_back(id);
  }
  return found;
}

void reconciler::on_compare(row_id peer, std::uint64_t known_there, const view_compare& theirs) {
  const std::size_t count = theirs.buckets.size();
  if (!std::has_single_bit(count) || count > view_buckets_max || !may_answer()) return;
  std::vector<bool> differs(count);
  bool any = false;
  for (std::size_t bucket = 0; bucket < count; ++bucket) {
    differs[bucket] = shared_.table.bucket_digest(bucket, count) != theirs.buckets[bucket];
    any = any || differs[bucket];
  }
  if (!any) return;
  const auto members = members_of(differs, count);
  std::vector<view_summary> parts(1);
  // One that knows nobody must learn who answers.
  const bool introduce = known_there <= 1;
  std::size_t used = introduce ? size_bound(shared_.update_of(shared_.self_row)) : 0;
  for (std::size_t bucket = 0; bucket < count; ++bucket) {
    if (!differs[bucket]) continue;
    const std::size_t bytes = 2 + 2 * bytes_per_hash * members[bucket].size();
    if (used + bytes > room() && used > 0) {
      parts.emplace_back();
      used = 0;
    }
    if (bytes > room() || parts.size() > datagrams_max) {
      // Too different, or too many members, for datagrams.
      if (streams_.exchanges() == 0) {
        streams_.exchange(shared_.table.at(peer).subject->address, false, nullptr);
      }
      return;
    }
    used += bytes;
    view_summary& part = parts.back();
    part.bucket_count = static_cast<std::uint32_t>(count);
    part.buckets.push_back(static_cast<std::uint32_t>(bucket));
    for (const row_id id : members[bucket]) {
      const record& held = *shared_.table.at(id).subject;
      part.names.push_back(hash_bytes(held.name));
      part.digests.push_back(digest_of(part.names.back(), held.epoch, held.incarnation));
    }
  }
  for (view_summary& part : parts) {
    packet& sent = shared_.datagram(shared_.table.at(peer).subject->address);
    sent.body = std::move(part);
    if (introduce && &part == &parts.front()) {
      sent.updates.push_back(shared_.update_of(shared_.self_row));
    }
  }
}

void reconciler::on_summary(row_id peer, const view_summary& theirs) {
  if (peer == awaited_) awaited_ = no_row;
  const std::size_t count = theirs.bucket_count;
  if (!std::has_single_bit(count) || count > view_buckets_max ||
      theirs.names.size() != theirs.digests.size() || !may_answer()) {
    return;
  }
  std::vector<bool> covered(count);
  for (const std::uint32_t bucket : theirs.buckets) {
    if (bucket < count) covered[bucket] = true;
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> listed;  // name, digest
  for (std::size_t i = 0; i < theirs.names.size(); ++i) {
    if (covered[theirs.names[i] % count]) listed.emplace_back(theirs.names[i], theirs.digests[i]);
  }
  std::sort(listed.begin(), listed.end());
  std::vector<row_id> lacking;
  std::vector<std::uint64_t> wanted;
  for (const auto& [name, digest] : listed) {
    const row_id id = shared_.table.find_hash(name);
    if (id == no_row) {
      wanted.push_back(name);
      continue;
    }
    const record& held = *shared_.table.at(id).subject;
    if (!shared_.table.at(id).present() ||
        digest_of(name, held.epoch, held.incarnation) != digest) {
      wanted.push_back(name);
      lacking.push_back(id);
    }
  }
  for (const auto& bucket : members_of(covered, count)) {
    for (const row_id id : bucket) {
      const std::uint64_t name = hash_bytes(shared_.table.at(id).subject->name);
      const auto at =
          std::lower_bound(listed.begin(), listed.end(), std::pair{name, std::uint64_t{0}});
      if (at == listed.end() || at->first != name) lacking.push_back(id);
    }
  }
  if (!lacking.empty() || !wanted.empty()) send_delta(peer, lacking, wanted);
}

void reconciler::on_delta(row_id peer, const view_delta& theirs) {
  if (!may_answer()) return;
  std::vector<row_id> answer;
  for (const view_row& row : theirs.rows) {
    if (members_.merge(row)) answer.push_back(shared_.table.find(row.subject->name));
    if (shared_.phase != life_phase::running) return;
  }
  for (const std::uint64_t name : theirs.wanted) {
    const row_id id = shared_.table.find_hash(name);
    if (id != no_row) answer.push_back(id);
  }
  std::sort(answer.begin(), answer.end());
  answer.erase(std::unique(answer.begin(), answer.end()), answer.end());
  if (!answer.empty()) send_delta(peer, answer, {});
}

void reconciler::send_delta(row_id peer, const std::vector<row_id>& rows,
                            const std::vector<std::uint64_t>& wanted) {
  const endpoint to = shared_.table.at(peer).subject->address;
  std::vector<view_delta> parts(1);
  std::size_t used = 0;
  const auto make_room = [&](std::size_t bytes) {
    if (used > 0 && used + bytes > room()) {
      parts.emplace_back();
      used = 0;
    }
    used += bytes;
  };
  for (const std::uint64_t name : wanted) {
    make_room(bytes_per_hash);
    parts.back().wanted.push_back(name);
  }
  bool fits = true;
  for (const row_id id : rows) {
    view_row row = shared_.row_of(id);
    const std::size_t bytes = size_bound(row);
    fits = fits && bytes <= room();
    if (!fits) break;
    make_room(bytes);
    parts.back().rows.push_back(std::move(row));
  }
  if (!fits || parts.size() > datagrams_max) {
    if (streams_.exchanges() == 0) streams_.exchange(to, false, nullptr);
    return;
  }
  for (view_delta& part : parts) {
    shared_.counters.delta_rows_sent += part.rows.size();
    shared_.datagram(to).body = std::move(part);
  }
}

}  // namespace lifering::swim
