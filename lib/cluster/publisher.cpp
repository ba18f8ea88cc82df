#include "cluster/publisher.hpp"

#include <algorithm>
#include <asio/post.hpp>
#include <iterator>
#include <new>
#include <system_error>
#include <utility>

#include "base/check.hpp"
#include "cluster/ring_builder.hpp"
#include "ring/change_time.hpp"

namespace lifering::cluster_detail {
namespace {

/// Adds the later batch to the earlier one.
void gather(batch& earlier, batch later) {
  earlier.members = std::move(later.members);
  earlier.ring_changes += later.ring_changes;
  earlier.urgent = earlier.urgent || later.urgent;
  std::move(later.changes.begin(), later.changes.end(), std::back_inserter(earlier.changes));
  std::move(later.completions.begin(), later.completions.end(),
            std::back_inserter(earlier.completions));
}

}  // namespace

publisher::publisher(placement_options placement) : ring_(std::move(placement)) {}

publisher::~publisher() {
  disconnect();
}

void publisher::bind(const strand& where, std::shared_ptr<dispatcher> events,
                     std::function<void(std::uint64_t)> on_ring, ring_pace pace, base::logger log) {
  strand_ = where;
  events_ = std::move(events);
  on_ring_ = std::move(on_ring);
  pace_ = std::move(pace);
  log_ = std::move(log);
}

// --- Readers ---

member_list publisher::members() const {
  const std::lock_guard lock(mutex_);
  return members_;
}

std::optional<member> publisher::owner(std::string_view key) const {
  auto first = owners(key, 1);
  return first.empty() ? std::nullopt : std::optional(std::move(first.front()));
}

std::vector<member> publisher::owners(std::string_view key, std::size_t n) const {
  std::vector<member> result;
  // Under the lock the ring is that of `members_`, or already that of `incoming_`.
  const std::lock_guard lock(mutex_);
  const auto view = ring_.view();
  for (const ring_node* node : view.owners(key, n)) {
    const member* found = members_.find(node->name);
    if (found == nullptr) found = incoming_.find(node->name);
    if (found != nullptr) result.push_back(*found);
  }
  return result;
}

bool publisher::wait_for(std::size_t n, std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return disconnected_ || members_.size() >= n; });
  return members_.size() >= n;
}

publisher::counts publisher::count() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

// --- The writer ---

bool publisher::is_long_build(const batch& next) const {
  if (next.ring_changes == 0) return false;
  return ring_detail::estimated_change(ring_.placement(), ring_.points(), next.members->size(),
                                       next.ring_changes) > pace_.short_build;
}

void publisher::expect_more() {
  if (!waiting_) be_quiet(base::duration::zero());  // What waits already waits no longer for that.
}

void publisher::be_quiet(base::duration after_build) {
  constexpr int builds = 10;      // While changes go on, builds take a tenth of the time,
  constexpr int gatherings = 10;  // unless rings would become too old.
  const base::duration gather(pace_.gather);
  const auto patience = std::clamp(builds * after_build, gather, gatherings * gather);
  quiet_until_ = pace_.now() + gather;
  patient_until_ = std::max(patient_until_, pace_.now() + patience);
}

base::time_point publisher::due() const {
  constexpr int lulls = 3;  // In a gathering: the last changes of a storm don't wait for patience.
  const auto lull_at = changed_at_ + base::duration(pace_.gather) / lulls;
  return std::clamp(lull_at, quiet_until_, patient_until_);
}

void publisher::submit(batch next) {
  if (next.ring_changes > 0) changed_at_ = pace_.now();
  const bool too_soon = next.ring_changes > 0 && next.can_wait() && pace_.now() < due();
  if (!building_ && !waiting_ && !too_soon) return start(std::move(next));
  {
    const std::lock_guard lock(mutex_);
    ++counts_.gathered;
    if (queued_) return gather(*queued_, std::move(next));  // The builder's turn is still to come.
  }
  if (waiting_) {
    gather(*waiting_, std::move(next));
  } else {
    waiting_ = std::move(next);
  }
  if (!building_) start_when_due();
}

void publisher::start_when_due() {
  if (!waiting_->can_wait() || waiting_->ring_changes == 0 || pace_.now() >= due()) {
    return start_waiting();
  }
  if (std::exchange(called_, true)) return;
  pace_.call_at(due(), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->called_ = false;
    if (self->waiting_ && !self->building_) self->start_when_due();
  });
}

void publisher::start_waiting() {
  start(*std::exchange(waiting_, std::nullopt));
}

void publisher::start(batch next) {
  if (is_long_build(next) && has_builder() && may_use_builder()) {
    build_on_thread(std::move(next));
  } else {
    submit_now(std::move(next));
  }
}

void publisher::submit_now(batch next) {
  LIFERING_CHECK(!building_);
  began_ = pace_.now();
  publish(next);
  conclude(next);
}

bool publisher::has_builder() {
  if (builder_) return true;
  try {
    builder_ = ring_builder::of(strand_->get_inner_executor()).executor();
  } catch (const std::system_error& error) {
    log_(log_level::warning,
         std::string("A ring is built on the loop, for want of a thread: ") + error.what());
  }
  return builder_.has_value();
}

/// Counts a piece of the builder's work, unless nobody would be there any more to be told of it.
bool publisher::may_use_builder() {
  const std::lock_guard lock(mutex_);
  if (disconnected_) return false;
  ++builds_now_;
  return true;
}

/// Tells the strand that such a piece is done. This object's end waits for that, and so must not
/// happen on the builder's thread: the strand's handler alone owns it.
void publisher::tell_strand(std::function<void()> what) {
  const std::lock_guard lock(mutex_);
  asio::post(*strand_, std::move(what));
  --builds_now_;
  changed_.notify_all();
}

void publisher::build_on_thread(batch next) {
  building_ = true;
  began_ = pace_.now();
  {
    const std::lock_guard lock(mutex_);
    queued_ = std::move(next);
  }
  asio::post(*builder_, [weak = weak_from_this()] {
    if (auto self = weak.lock()) build_queued(std::move(self));
  });
}

/// On the builder's thread, where `self` is left to the strand's handler.
void publisher::build_queued(std::shared_ptr<publisher> self) {
  auto& mine = *self;
  auto work = std::make_shared<batch>();
  {
    const std::lock_guard lock(mine.mutex_);
    if (!mine.queued_) return;  // Disconnected meanwhile.
    *work = *std::exchange(mine.queued_, std::nullopt);
    ++mine.counts_.long_builds;
  }
  mine.publish(*work);
  mine.tell_strand([self = std::move(self), work = std::move(work)] { self->on_built(*work); });
}

void publisher::on_built(batch& done) {
  building_ = false;
  conclude(done);
  if (waiting_) start_when_due();
}

/// Any thread, one at a time.
void publisher::publish(batch& next) {
  std::optional<ring_event> ring;
  if (next.ring_changes > 0) ring = publish_ring(next);
  {
    const std::lock_guard lock(mutex_);
    members_ = member_list(next.members);
    incoming_ = {};
    ++counts_.publications;
    changed_.notify_all();
  }
  events_->push(std::move(next.changes), ring);
}

std::optional<ring_event> publisher::publish_ring(batch& next) {
  {
    const std::lock_guard lock(mutex_);
    incoming_ = member_list(next.members);
  }
  // The build, under no lock.
  ring_change change;
  try {
    change = ring_.assign(ring_nodes(*next.members), next.error);
  } catch (const std::bad_alloc&) {
    next.error = std::make_error_code(std::errc::not_enough_memory);
  }
  if (next.error || !change.changed) return std::nullopt;
  return ring_event{0,
                    std::chrono::system_clock::now(),
                    change.version,
                    change.fingerprint,
                    change.nodes,
                    change.moved_share()};
}

void publisher::conclude(batch& done) {
  if (done.error) log_(log_level::error, "The ring stays as it was: " + done.error.message());
  if (done.ring_changes > 0) {
    on_ring_(ring_.fingerprint());
    if (done.can_wait()) be_quiet(pace_.now() - began_);
  }
  for (const auto& each : done.completions)
    each.tell();
}

void publisher::close(std::function<void()> closed) {
  if (tell_what_is_left()) return closed();
  if (!building_ && waiting_) start_waiting();
  if (building_) {
    return after_build(
        [self = shared_from_this(), closed = std::move(closed)] { self->close(closed); });
  }
  closed();
}

/// After a disconnect nobody sees another ring; but operations that ended have still to be told of.
bool publisher::tell_what_is_left() {
  {
    const std::lock_guard lock(mutex_);
    if (!disconnected_) return false;
  }
  for (auto* left : {&abandoned_, &waiting_}) {
    if (!*left) continue;
    const batch told = *std::exchange(*left, std::nullopt);
    for (const auto& each : told.completions)
      each.tell();
  }
  return true;
}

/// Calls back on the strand after on_built().
void publisher::after_build(std::function<void()> call) {
  if (!may_use_builder()) return asio::post(*strand_, std::move(call));
  asio::post(*builder_, [this, call = std::move(call)]() mutable { tell_strand(std::move(call)); });
}

void publisher::disconnect() {
  std::unique_lock lock(mutex_);
  disconnected_ = true;
  if (queued_) {  // Behind the builds of others, for which nobody is to wait.
    abandoned_ = std::exchange(queued_, std::nullopt);
    --builds_now_;
  }
  changed_.notify_all();
  changed_.wait(lock, [this] { return builds_now_ == 0; });
}

}  // namespace lifering::cluster_detail
