// Wires the parts of the machine: brings each input to the part that it concerns. Owns no rule but
// the order in which things are looked at, and notices when it didn't run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <lifering/error.hpp>
#include <utility>

#include "swim/broadcaster.hpp"
#include "swim/contacts.hpp"
#include "swim/core.hpp"
#include "swim/disseminator.hpp"
#include "swim/farewell.hpp"
#include "swim/membership.hpp"
#include "swim/metadata_puller.hpp"
#include "swim/newcomers.hpp"
#include "swim/prober.hpp"
#include "swim/reconciler.hpp"
#include "swim/synchronizer.hpp"

namespace lifering::swim {

class machine {
 public:
  machine(config settings, record self, base::rng random, base::time_point now)
      : core_(std::move(settings), std::move(self), random, now),
        members_(
            core_, [this](row_id id) { prober_.probe_now(id); },
            [this](row_id id, bool unknown) {
              broadcaster_.on_record(id, unknown);
              metadata_.on_record(id);
              streams_.on_held(id);
            },
            [this](const record_ptr& life, bool by_itself) { return must_prove(life, by_itself); }),
        broadcaster_(core_, members_),
        streams_(core_, members_),
        metadata_(core_, members_, streams_),
        newcomers_(core_),
        prober_(core_, members_,
                [this](row_id id, std::uint64_t sequence) { streams_.probe(id, sequence); }),
        reconciler_(core_, members_, streams_),
        gossip_(core_),
        contacts_(core_, streams_, reconciler_),
        farewell_(core_, members_),
        planned_(next_deadline()) {
    streams_.set_prober(prober_);
  }

  core& shared() noexcept { return core_; }
  const core& shared() const noexcept { return core_; }
  membership& members() noexcept { return members_; }
  synchronizer& streams() noexcept { return streams_; }
  broadcaster& broadcasts() noexcept { return broadcaster_; }
  prober& probes() noexcept { return prober_; }
  contacts& finding() noexcept { return contacts_; }
  farewell& leaving() noexcept { return farewell_; }

  /// Every call is bracketed by these two.
  void begin(base::time_point now, effects& out) {
    core_.now = std::max(core_.now, now);
    core_.out = &out;
    graves_before_ = core_.table.graves();
    phase_before_ = core_.phase;
    notice_lateness();
  }
  void finish() {
    if (core_.phase != phase_before_ && !core_.active()) {
      prober_.stop();
      metadata_.stop();
      newcomers_.stop();
      streams_.stop();
      contacts_.stop(errc::stopped);
    }
    if (core_.table.graves() > graves_before_) contacts_.member_lost();
    streams_.attend();
    gossip_.news_queued();
    core_.out = nullptr;
    // Never in the past: what is overdue now is no stall at the next call.
    planned_ = std::max(core_.now, next_deadline());
  }

  void advance() {
    if (!core_.active()) return;
    prober_.advance();
    members_.advance();
    reconciler_.advance();
    broadcaster_.advance();
    metadata_.advance();
    newcomers_.advance();
    streams_.advance();
    contacts_.advance();
    farewell_.advance();
    gossip_.advance();
  }

  base::time_point next_deadline() const noexcept {
    if (!core_.active()) return base::never;
    return std::min({prober_.next_deadline(), members_.next_deadline(), reconciler_.next_deadline(),
                     broadcaster_.next_deadline(), contacts_.next_deadline(),
                     farewell_.next_deadline(), gossip_.next_deadline(), metadata_.next_deadline(),
                     newcomers_.next_deadline(), streams_.next_deadline(), vigil()});
  }

  void on_packet(const packet_received& input);

  void on_refused(const endpoint& address) {
    leaving().on_refused(address);
    streams_.on_refused(address);
    prober_.on_refused(address);
  }

  void on_send_failed(const endpoint& to) noexcept {
    // Where a stranger says that it is, there may be no way to from anywhere.
    if (streams_.asks_at(to) || newcomers_.asks_at(to)) return;
    // Once an interval: a burst of failures has one cause.
    if (core_.now < next_send_failure_) return;
    next_send_failure_ = core_.now + base::duration(core_.settings.timing.probe_interval);
    core_.health.worse(1);
  }

 private:
  base::time_point vigil() const noexcept;
  base::duration lateness_allowed() const noexcept;
  void notice_lateness();
  void catch_up(base::duration late);
  void wake_from_stall(base::duration late);
  bool holds(const sender& life) const;
  void hear_of(const record_ptr& life);
  bool must_prove(const record_ptr& life, bool by_itself);
  void on_ack(const sender& by, std::uint64_t sequence);
  void dispatch(const endpoint& from, const packet& content, row_id by);
  void compare_views(const sender& theirs, row_id by);

  core core_;
  membership members_;
  broadcaster broadcaster_;
  synchronizer streams_;
  metadata_puller metadata_;
  newcomers newcomers_;
  prober prober_;
  reconciler reconciler_;
  disseminator gossip_;
  contacts contacts_;
  farewell farewell_;
  endpoint answers_from_;  ///< Where the answer to a comparison comes from, while it's taken in.
  base::time_point planned_;
  base::time_point next_send_failure_{};
  std::size_t graves_before_ = 0;
  life_phase phase_before_ = life_phase::running;
};

}  // namespace lifering::swim
