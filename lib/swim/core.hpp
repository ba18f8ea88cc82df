// What the parts of the machine share: configuration, time, randomness, the table, the queue, our
// own record, and the way packets leave.
#pragma once

#include <cstdint>
#include <lifering/event.hpp>
#include <system_error>

#include "base/rng.hpp"
#include "base/time.hpp"
#include "swim/broadcast_queue.hpp"
#include "swim/config.hpp"
#include "swim/effect.hpp"
#include "swim/gossip_queue.hpp"
#include "swim/hold_down.hpp"
#include "swim/local_health.hpp"
#include "swim/member_table.hpp"
#include "swim/round_trip.hpp"
#include "swim/stats.hpp"

namespace lifering::swim {

/// Where this member stands in its own life.
enum class life_phase : std::uint8_t {
  running,
  leaving,     ///< Saying goodbye.
  gone,        ///< Has left; a join starts a new life.
  superseded,  ///< A newer life of our name exists elsewhere; final.
};

struct core {
  core(config given, record own, base::rng generator, base::time_point start);

  config settings;
  base::rng random;
  swim::stats counters{};
  base::time_point now;
  effects* out = nullptr;  ///< Of the call under way.

  member_table table;
  gossip_queue gossip;
  broadcast_queue broadcasts;
  local_health health;
  round_trip trip;

  record_ptr self;
  row_id self_row = no_row;
  life_phase phase = life_phase::running;
  /// A cluster has confirmed our epoch. Until then hearing of an older life of our name only means
  /// that ours must be newer.
  bool settled = false;
  base::time_point started;       ///< Of this process's first life.
  own_hold hold;                  ///< While it is active our own row says failed.
  base::time_point asking_until;  ///< What is held of us is being asked; no doubt is contradicted.
  /// We stood still for longer than graves last: what we hold of others may be long gone. Told to
  /// nobody until somebody's view has been merged.
  bool outdated = false;

  std::uint64_t ring_fingerprint = 0;
  base::time_point ring_changed;   ///< Last change of the fingerprint.
  base::time_point heard_any;      ///< Last packet of a member.
  base::time_point view_changed;   ///< Last change of the digest.
  base::time_point judging_from;   ///< We were late: nobody is accused or removed before this.
  base::time_point merging_until;  ///< The lost came back: verdicts on others may be of their part.
  base::time_point stale_until;    ///< We stood still: what is heard before this may be as old.
  base::time_point behind_until;   ///< We run late: what can wait isn't begun before this.
  base::time_point disagreed;      ///< Last time a peer's fingerprint differed from ours.

  bool active() const noexcept {
    return phase == life_phase::running || phase == life_phase::leaving;
  }
  bool is_self(std::string_view name) const noexcept { return name == self->name; }
  std::uint64_t next_sequence() noexcept { return ++sequence_; }

  /// Present members but ourselves.
  std::size_t others() const noexcept { return table.others().size(); }

  /// How often one piece of news is sent: multiplier * ceil(log10(members + 1)).
  unsigned retransmit_limit() const noexcept;

  /// The timeout of one direct ping now.
  base::duration ping_timeout() const noexcept;

  /// An interval stretched by local health, if that part is on.
  base::duration scaled(base::duration value) const noexcept {
    return settings.parts.local_health_probe ? health.scale(value) : value;
  }

  /// Fills in the sender part.
  void sign(packet& onto) const;

  /// A datagram with our sender part filled in.
  packet& datagram(const endpoint& to);
  packet& frame(stream_id stream);

  /// Adds updates to a datagram for a member: first what it should know of itself (the Buddy
  /// System), then gossip, up to the budget.
  void piggyback(packet& onto, row_id target);

  /// An update about a row as it stands.
  update update_of(row_id id) const;

  /// A row as it is shown to somebody who compares views with us.
  view_row row_of(row_id id) const;

  /// Tells the application about a row.
  void notify(event_kind kind, row_id id);

  /// The same, of a row whose record alone is newer.
  void show_renewed(row_id id);

  /// A random duration in [0, limit).
  base::duration jitter(base::duration limit) noexcept;

 private:
  std::uint64_t sequence_;
};

}  // namespace lifering::swim
