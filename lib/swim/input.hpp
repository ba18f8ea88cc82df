// What the protocol machine is told: packets, streams, evidence from the transport, commands.
// Time passing is an input too: `protocol::advance(now)`.
#pragma once

#include <cstdint>
#include <lifering/endpoint.hpp>
#include <lifering/member.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/time.hpp"
#include "swim/message.hpp"

namespace lifering::swim {

/// Names a stream between machine and shell. The machine counts its own upwards from 1; streams
/// that the shell accepted have the top bit set.
enum class stream_id : std::uint64_t {};

inline constexpr std::uint64_t accepted_stream_bit = std::uint64_t{1} << 63;

constexpr bool is_accepted(stream_id id) noexcept {
  return (static_cast<std::uint64_t>(id) & accepted_stream_bit) != 0;
}

/// Names a command, so that its completion can be told apart. The caller chooses; never reused.
enum class command_id : std::uint64_t {};

// From the transport.

/// A datagram of our cluster arrived.
struct packet_received {
  endpoint from;
  const packet& content;
  bool is_proven = false;  ///< By a seal: whoever sent it holds a key of the cluster.
};

/// A stream that we asked for is connected.
struct stream_opened {
  stream_id stream;
};

/// A peer connected to us.
struct stream_accepted {
  stream_id stream;
  endpoint from;
};

/// A whole frame arrived.
struct stream_received {
  stream_id stream;
  const packet& content;
};

/// The stream is over: closed by the peer (no error), failed, timed out, or its bytes were not of
/// our cluster or version (errc::wrong_cluster, errc::wrong_version).
struct stream_ended {
  stream_id stream;
  std::error_code error;
};

/// The host at that address answered that nobody listens there (ICMP port unreachable).
struct peer_refused {
  endpoint address;
};

/// A send failed for a local reason (no route, no buffers): evidence about ourselves.
struct send_failed {
  endpoint to;
  std::error_code error;
};

/// The addresses of a seed text, or why there are none.
struct seed_resolved {
  std::string seed;
  std::vector<endpoint> addresses;
  std::error_code error;
};

// Commands of the application. Each but advance() is completed by one `completed` effect.

/// Contact these seeds; complete when one of them has exchanged its view with ours.
struct join_command {
  command_id id;
  std::vector<std::string> seeds;
  base::duration deadline;  ///< From now.
};

/// Say goodbye; complete when enough peers acknowledged it, or at the deadline.
struct leave_command {
  command_id id;
  base::duration deadline;
};

/// Ends a pending command early; it completes with errc::canceled.
struct cancel_command {
  command_id target;
};

/// Publish a change of our own record. Fields that aren't set stay.
struct update_command {
  command_id id;
  std::optional<lifering::weight> weight;
  std::optional<member_phase> phase;
  std::optional<std::string> metadata;
  std::optional<std::string> service;
  std::optional<endpoint> address{};  ///< Where we are reached from now on; the life is the same.
};

/// Take a failed member for left, here and everywhere: its grave no longer asks to be contacted
/// again. Completes with errc::unknown_member unless that name is held as failed.
struct forget_command {
  command_id id;
  std::string name;
};

/// Bytes to one present member, best-effort by datagram or reliable by stream, or to all by gossip.
struct send_command {
  command_id id;
  std::string to;  ///< Empty: all.
  bool reliable = false;
  std::string payload;
};

}  // namespace lifering::swim
