// What the shell counts, by reason. Counters only grow.
#pragma once

#include <cstdint>

namespace lifering::net {

/// What the driver counts beside the machine's own counters.
struct counters {
  std::uint64_t datagrams_sent = 0;
  std::uint64_t datagrams_received = 0;
  std::uint64_t bytes_sent = 0;      ///< Of datagrams and streams.
  std::uint64_t bytes_received = 0;  ///< Likewise.

  std::uint64_t streams_opened = 0;
  std::uint64_t streams_accepted = 0;
  std::uint64_t streams_failed = 0;
  std::uint64_t streams_refused_limit = 0;   ///< Not taken: too many at once.
  std::uint64_t streams_refused_source = 0;  ///< Not taken: too many from one source.
  std::uint64_t accept_errors = 0;           ///< Pauses in accepting: no descriptors, no memory.

  // Dropped input, datagrams and frames alike.
  std::uint64_t dropped_not_ours = 0;    ///< No packet of this protocol at all.
  std::uint64_t dropped_malformed = 0;   ///< One that is damaged: cut, longer, or of odd content.
  std::uint64_t dropped_over_limit = 0;  ///< Something in it is larger than its limit.
  std::uint64_t dropped_wrong_cluster = 0;
  std::uint64_t dropped_wrong_version = 0;
  std::uint64_t dropped_too_large = 0;    ///< A datagram beyond our limit.
  std::uint64_t dropped_no_room = 0;      ///< Came faster over a transport than we read.
  std::uint64_t dropped_not_allowed = 0;  ///< From outside the allowed networks, or about there.
  std::uint64_t dropped_not_sealed = 0;   ///< Plain, where sealed is required.
  std::uint64_t dropped_cannot_open = 0;  ///< Sealed, and no key of ours opens it.
  std::uint64_t dropped_repeated = 0;     ///< Sealed, and came before.
  std::uint64_t dropped_unproven = 0;  ///< Sealed, from a life that has not proved that it lives.

  std::uint64_t challenges_sent = 0;   ///< Times that a life was asked to prove that it lives.
  std::uint64_t presumed_acks = 0;     ///< Pings taken for answered by packets we can't open.
  std::uint64_t replies_withheld = 0;  ///< To strangers: larger than what they sent, or no room.

  std::uint64_t send_errors = 0;  ///< Datagrams that our own host didn't take.
  std::uint64_t refused = 0;      ///< Ports that their host said are closed.
  std::uint64_t unreachable = 0;  ///< Packets of which a router said that they can't get there.

  friend bool operator==(const counters&, const counters&) = default;
};

/// How full things are at this moment.
struct gauges {
  std::uint64_t streams_open = 0;
  std::uint64_t stream_bytes_queued = 0;    ///< Of all streams, not yet taken by the system.
  std::uint64_t datagram_bytes_queued = 0;  ///< Likewise of datagrams.
  std::uint64_t lookups_waiting = 0;        ///< Seeds whose names are being looked up.

  friend bool operator==(const gauges&, const gauges&) = default;
};

}  // namespace lifering::net
