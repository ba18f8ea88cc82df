// Counters of a protocol machine, which only grow, and gauges, which are computed when asked for.
#pragma once

#include <cstdint>

namespace lifering::swim {

struct stats {
  // Probes.
  std::uint64_t probes = 0;
  std::uint64_t probes_failed = 0;
  std::uint64_t indirect_probes = 0;
  std::uint64_t stream_probes = 0;
  std::uint64_t stream_probes_saved = 0;  ///< Answered by stream only.
  std::uint64_t nacks_missed = 0;
  std::uint64_t round_trips = 0;              ///< That were measured.
  std::uint64_t round_trip_microseconds = 0;  ///< All of them together.
  std::uint64_t late_wakes = 0;  ///< Woken too late to judge by what was due meanwhile.
  std::uint64_t stalls = 0;

  // Membership.
  std::uint64_t suspicions_raised = 0;
  std::uint64_t suspicions_heard = 0;
  std::uint64_t suspicions_confirmed = 0;
  std::uint64_t refutations = 0;
  std::uint64_t failures_declared = 0;
  std::uint64_t isolations = 0;
  std::uint64_t hold_downs = 0;  ///< Times that we stayed away because we flapped.

  // Views.
  std::uint64_t syncs_started = 0;
  std::uint64_t syncs_served = 0;
  std::uint64_t digest_mismatches = 0;
  std::uint64_t compares_started = 0;
  std::uint64_t delta_rows_sent = 0;
  std::uint64_t metadata_pulled = 0;
  std::uint64_t metadata_served = 0;

  // Dropped input, by reason.
  std::uint64_t dropped_wrong_placement = 0;
  std::uint64_t dropped_from_self = 0;
  std::uint64_t dropped_bad_sender = 0;
  std::uint64_t dropped_not_for_us = 0;
  std::uint64_t dropped_unknown_sequence = 0;
  std::uint64_t dropped_bad_accuser = 0;
  std::uint64_t dropped_accuser_limit = 0;
  std::uint64_t dropped_bad_record = 0;
  std::uint64_t dropped_beyond_window = 0;
  std::uint64_t dropped_member_limit = 0;
  std::uint64_t dropped_unanswered = 0;  ///< Unknown lives that answered no probe.
  std::uint64_t dropped_stream_limit = 0;
  std::uint64_t dropped_unexpected_frame = 0;

  // Gossip.
  std::uint64_t updates_sent = 0;
  std::uint64_t updates_received = 0;
  std::uint64_t updates_new = 0;
  std::uint64_t graves_evicted = 0;

  // Broadcasts of applications.
  std::uint64_t broadcasts_delivered = 0;
  std::uint64_t broadcasts_early = 0;   ///< Of a life not known yet.
  std::uint64_t broadcasts_missed = 0;  ///< Given up.

  friend bool operator==(const stats&, const stats&) = default;
};

/// How things are at this moment.
struct gauges {
  // News that waits to be passed on, in order of urgency.
  std::uint64_t queued_leaves = 0;
  std::uint64_t queued_failures = 0;
  std::uint64_t queued_suspicions = 0;
  std::uint64_t queued_refutations = 0;
  std::uint64_t queued_joins = 0;
  std::uint64_t queued_metadata = 0;
  std::uint64_t queued_broadcasts = 0;

  std::uint64_t suspicions = 0;  ///< That are running out.

  // Over all peers, in microseconds.
  std::uint64_t round_trip = 0;  ///< Smoothed; 0 until one was measured.
  std::uint64_t round_trip_deviation = 0;
  std::uint64_t probe_timeout = 0;  ///< That follows from them.
};

}  // namespace lifering::swim
