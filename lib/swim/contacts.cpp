#include "swim/contacts.hpp"

#include <algorithm>
#include <bit>
#include <lifering/error.hpp>
#include <utility>

namespace lifering::swim {
namespace {

constexpr unsigned patience_max = 4;  // 16 times the first pause

/// How often the pause doubles while somebody is missing. What many share may be rare at each of
/// them; the few of a small part have nobody else to look for the rest.
unsigned patience_of(std::size_t present) noexcept {
  return std::clamp(static_cast<unsigned>(std::bit_width(present)), 2u, patience_max + 1) - 1;
}

/// How many of those heard of are asked beside the seeds. A large cluster that forms at once has
/// enough to do without it.
std::size_t further_knocks(std::size_t others) noexcept {
  constexpr std::size_t many = 100;
  return others <= many ? 4 : 2;
}

}  // namespace

contacts::contacts(core& shared, synchronizer& streams, reconciler& views)
    : shared_(shared), streams_(streams), views_(views), next_heal_(shared.now + pause()) {}

// Joining.

void contacts::join(const join_command& asked) {
  if (joining_) {
    shared_.out->push(completed{asked.id, errc::busy, 0, "another join is under way"});
    return;
  }
  for (const std::string& seed : asked.seeds) {
    if (std::find(seeds_.begin(), seeds_.end(), seed) == seeds_.end()) seeds_.push_back(seed);
  }
  join_attempt& made = joining_.emplace();
  made.id = asked.id;
  made.deadline = shared_.now + asked.deadline;
  made.resolving = asked.seeds.size();
  for (const std::string& seed : asked.seeds)
    shared_.out->push(resolve_seed{seed});
  pump();
}

void contacts::on_resolved(const seed_resolved& answer) {
  std::vector<endpoint> strangers;
  bool ourselves = false;
  for (const endpoint& address : answer.addresses) {
    if (address == shared_.self->address)
      ourselves = true;
    else
      strangers.push_back(address);
  }
  if (joining_) {
    join_attempt& at = *joining_;
    if (at.resolving > 0) --at.resolving;
    if (answer.error)
      note(at.lookups, "seed " + answer.seed + ": " + answer.error.message());
    else if (strangers.empty() && !ourselves)
      note(at.lookups, "seed " + answer.seed + " has no address");
    for (const endpoint& address : strangers) {
      if (std::find(at.untried.begin(), at.untried.end(), address) == at.untried.end()) {
        at.untried.push_back(address);
      }
    }
    return pump();
  }
  if (!healing_ || strangers.empty()) return;
  healing_ = false;
  const endpoint& chosen =
      strangers[static_cast<std::size_t>(shared_.random.below(strangers.size()))];
  if (!is_present(chosen)) streams_.exchange(chosen, true, nullptr);
}

void contacts::pump() {
  if (!joining_) return;
  // The other half of the streams is for those who call us.
  const std::size_t tries =
      std::min(parallel_tries, std::max<std::size_t>(1, shared_.settings.limits.streams / 2));
  while (joining_->trying.size() < tries && !joining_->untried.empty()) {
    const endpoint address = joining_->untried.front();
    joining_->untried.erase(joining_->untried.begin());
    try_address(address);
    if (!joining_) return;
  }
  const join_attempt& at = *joining_;
  if (at.resolving == 0 && at.trying.empty() && at.untried.empty() && at.busy.empty()) {
    if (at.refused) return finish(at.refused, 0);
    // Every seed was ourselves: the first member of its cluster.
    const bool is_alone = at.lookups.empty() && at.answers.empty();
    finish(is_alone ? std::error_code() : std::error_code(errc::no_seed_answered), 0);
  }
}

void contacts::try_address(const endpoint& address) {
  joining_->trying.push_back(address);
  joining_->knock_at =
      shared_.now + base::duration(shared_.settings.timing.probe_timeout);  // if it takes longer
  const command_id id = joining_->id;
  const auto done = [this, id, address](const stream_outcome& how) {
    if (joining_ && joining_->id == id) on_tried(address, how);
  };
  if (!streams_.exchange(address, true, done)) {
    std::erase(joining_->trying, address);
    note(joining_->answers, address.to_string() + ": too many streams are open");
  }
}

void contacts::on_tried(const endpoint& address, const stream_outcome& how) {
  join_attempt& at = *joining_;
  std::erase(at.trying, address);
  const std::error_code error = how.error;
  if (!error) return finish({}, 1);
  if (how.met_ourselves) return pump();
  // Who stood still couldn't answer where it says that it is, and may now.
  const bool missed = error == errc::invalid_address && shared_.now < shared_.stale_until;
  if (error == errc::busy || error == errc::timed_out || missed) return retry_later(address);
  note(at.answers,
       address.to_string() + ": " + (how.detail.empty() ? error.message() : how.detail));
  const bool refusal = error == errc::wrong_cluster || error == errc::wrong_version ||
                       error == errc::wrong_placement || error == errc::wrong_key ||
                       error == errc::name_in_use || error == errc::too_many_members ||
                       (error == errc::invalid_address && !how.detail.empty());
  if (refusal) at.refused = error;
  pump();
}

void contacts::knock() {
  join_attempt& at = *joining_;
  at.knocked = true;
  at.knock_at = shared_.now + base::duration(shared_.settings.timing.probe_timeout) / 2 +
                shared_.jitter(shared_.settings.timing.probe_timeout);
  for (const endpoint& address : at.trying)
    views_.knock(address);
  for (const endpoint& address : at.busy)  // Letting somebody in takes no stream.
    views_.knock(address);
  // Nor does it have to wait for the streams to those before it that don't answer; some each time.
  const auto some = static_cast<std::ptrdiff_t>(std::min(at.untried.size(), parallel_tries));
  for (auto each = at.untried.begin(); each != at.untried.begin() + some; ++each)
    views_.knock(*each);
  std::rotate(at.untried.begin(), at.untried.begin() + some, at.untried.end());
  // Whoever is known by now can tell us the rest as well: where packets are lost, one answer of
  // several comes through.
  const std::size_t others = shared_.others();
  for (std::size_t more = 0; others > 0 && more < further_knocks(others); ++more)
    views_.knock(shared_.table.at(shared_.table.random_other(shared_.random)).subject->address);
}

bool contacts::has_knocked_at(const endpoint& address) const noexcept {
  if (!joining_ || !joining_->knocked) return false;
  const auto is_among = [&address](const std::vector<endpoint>& all) {
    return std::find(all.begin(), all.end(), address) != all.end();
  };
  const join_attempt& at = *joining_;
  return is_among(at.trying) || is_among(at.busy) || is_among(at.untried);
}

/// Of the join under way, while an address has yet to answer.
base::time_point contacts::next_knock() const noexcept {
  const bool waits = !joining_->trying.empty() || !joining_->busy.empty();
  return waits && shared_.settings.parts.digest_sync ? joining_->knock_at : base::never;
}

void contacts::on_agreement() {
  if (!joining_ || shared_.others() == 0) return;
  shared_.settled = true;
  finish({}, 1);
}

void contacts::retry_later(const endpoint& address) {
  // A seed that a whole cluster joins at once has a limited number of places. Come back when some
  // are free again, later and later, and not all together.
  join_attempt& at = *joining_;
  if (at.busy.empty()) {
    const base::duration first = shared_.settings.timing.probe_timeout;
    const base::duration full = first * (std::int64_t{1} << std::min(at.retries++, 4u));
    at.retry_at = shared_.now + full / 4 + shared_.jitter(full);
  }
  at.busy.push_back(address);
}

void contacts::advance_join() {
  join_attempt& at = *joining_;
  if (at.deadline <= shared_.now) {
    for (const endpoint& address : at.trying)
      note(at.answers, address.to_string() + ": no answer in time");
    for (const endpoint& address : at.busy)
      note(at.answers, address.to_string() + ": busy, or slow to answer");
    if (at.lookups.empty() && at.answers.empty()) {
      note(at.answers, "their addresses are not known yet");
    }
    return finish(at.refused ? at.refused : std::error_code(errc::no_seed_answered), 0);
  }
  if (!at.busy.empty() && at.retry_at <= shared_.now) {
    at.untried.insert(at.untried.end(), at.busy.begin(), at.busy.end());
    at.busy.clear();
    pump();
  }
  if (joining_ && next_knock() <= shared_.now) knock();
}

void contacts::note(std::string& to, const std::string& what) {
  if (to.size() < 1024) to += (to.empty() ? "" : "; ") + what;
}

void contacts::finish(std::error_code error, std::uint32_t contacted) {
  join_attempt ended = *std::exchange(joining_, std::nullopt);
  shared_.out->push(
      completed{ended.id, error, contacted, std::move(ended.answers), std::move(ended.lookups)});
  patience_ = 0;
  next_heal_ = shared_.now + pause();
}

void contacts::cancel(command_id target) {
  if (joining_ && joining_->id == target) finish(errc::canceled, 0);
}

void contacts::stop(std::error_code why) {
  if (joining_) finish(why, 0);
  seeds_.clear();
}

// Healing.

void contacts::member_lost() noexcept {
  patience_ = 0;
  next_heal_ = std::min(next_heal_, shared_.now + pause());
}

base::duration contacts::pause() {
  const base::duration first = 4 * base::duration(shared_.settings.timing.probe_interval);
  const unsigned most = missing_ ? patience_of(shared_.table.present()) : patience_max;
  const unsigned doublings = std::min(patience_, most);
  const base::duration full = first * (std::int64_t{1} << doublings);
  return full / 2 + shared_.jitter(full);
}

void contacts::advance() {
  if (joining_) advance_join();
  if (next_heal_ > shared_.now) return;
  if (shared_.settings.parts.heal && shared_.phase == life_phase::running && !joining_) heal();
  patience_ = std::min(patience_ + 1, patience_max);
  next_heal_ = shared_.now + pause();
}

void contacts::heal() {
  // One stream a turn: seeds and lost members take turns by chance.
  const row_id lost = shared_.table.random_failed(shared_.random, 1024);
  missing_ = lost != no_row || shared_.others() == 0;
  if (lost != no_row) views_.ask_about(lost);
  if (!seeds_.empty() && (lost == no_row || shared_.random.chance(1, 2))) {
    healing_ = true;
    shared_.out->push(resolve_seed{seeds_[next_seed_++ % seeds_.size()]});
    return;
  }
  if (lost != no_row) {
    streams_.exchange(shared_.table.at(lost).subject->address, false, nullptr);
  }
}

bool contacts::is_present(const endpoint& address) const {
  const auto others = shared_.table.others();
  return std::any_of(others.begin(), others.end(),
                     [&](row_id id) { return shared_.table.at(id).subject->address == address; });
}

base::time_point contacts::next_deadline() const noexcept {
  base::time_point deadline = base::never;
  if (joining_) {
    deadline = std::min(joining_->deadline, next_knock());
    if (!joining_->busy.empty()) deadline = std::min(deadline, joining_->retry_at);
  }
  return shared_.settings.parts.heal ? std::min(deadline, next_heal_) : deadline;
}

}  // namespace lifering::swim
