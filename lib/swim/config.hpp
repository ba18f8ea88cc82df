// The parameters of a protocol machine: the user's protocol options, the limits, and switches for
// the parts of SWIM and Lifeguard, so that the papers' variants can be compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <lifering/options.hpp>

#include "base/time.hpp"
#include "swim/record.hpp"

namespace lifering::swim {

/// Parts that can be switched off. All are on in production.
struct features {
  bool suspicion = true;               ///< SWIM 4.2; off: a failed probe is a failure.
  bool gossip_rounds = true;           ///< News also travels between probes.
  bool urgent_gossip = true;           ///< Failures, leaves and refutations are first sent at once.
  bool stream_probe = true;            ///< A probe by stream beside the indirect ones.
  bool nacks = true;                   ///< Helpers say that they are there (Lifeguard).
  bool local_health_probe = true;      ///< LHA-Probe: local health scales interval and timeout.
  bool local_health_suspicion = true;  ///< LHA-Suspicion: timeouts shrink with confirmations.
  bool buddy = true;               ///< Buddy System: a ping tells a suspect that it is suspected.
  bool adaptive_timeout = true;    ///< The probe timeout follows measured round trips.
  bool repeated_pings = true;      ///< Several direct tries in a probe before it counts as failed.
  bool confirm_at_once = true;     ///< A suspicion makes further members probe the suspect now.
  bool transport_evidence = true;  ///< A refused packet starts suspicion at once.
  bool stall_detector = true;      ///< A machine that was stopped judges nobody when it wakes.
  bool lone_accuser_rule = true;   ///< One accuser alone removes nobody while others could testify.
  bool digest_sync = true;         ///< Differing view digests start an exchange of views.
  bool push_pull = true;           ///< Periodic exchange of views.
  bool heal = true;                ///< Seeds and lost members are contacted again.
  bool shuffled_rounds = true;     ///< Off: each probe's target is drawn uniformly.
  bool scale_probe_timeout = true;  ///< Local health scales the timeout too (off: memberlist).
  bool failed_probe_always_counts = false;  ///< Lifeguard: +1 for a failed probe in any case.
};

struct config {
  protocol_options timing{};
  limit_options limits{};
  features parts{};

  /// Placement id in every packet; a peer with another one is refused. 0 on both sides agrees.
  std::uint64_t placement = 0;

  /// What a datagram's packet may take: the datagram limit less the envelope's fixed part.
  std::size_t datagram_budget = 1400;
  /// What a datagram may have beyond that if it tells of no member: the codec vouches in it for
  /// those that it tells of.
  std::size_t vouching_room = 0;

  /// What a frame's packet may take. Whoever takes one in does so in one go: of members with little
  /// metadata it holds some 150, which is some 0.3 ms.
  std::size_t frame_budget = std::size_t{20} * 1024;

  bool take_all_when_isolated = false;

  unsigned local_health_max = 8;          ///< Lifeguard's S: the score's highest value.
  unsigned suspicion_confirmations = 3;   ///< Lifeguard's K.
  unsigned suspicions_per_interval = 16;  ///< Suspicions that one accuser may raise per ten probe
                                          ///< intervals; more are dropped and counted.
  unsigned leave_acks = 3;                ///< Peers that must have acknowledged a leave.

  /// Asked before a reliable message of that many bytes is taken: whether the application has room.
  /// If not, its sender is told. Empty: always.
  std::function<bool(std::size_t)> has_room;

  /// Lets machines in one process share equal records (the simulator); empty: keep what arrived.
  std::function<record_ptr(record_ptr)> intern;
};

}  // namespace lifering::swim
