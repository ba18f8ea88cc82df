// Everything that can be set before a cluster object starts: a plain struct with defaults.
//
// Most programs set `name`, `cluster`, `bind` and `service`, start from a preset and leave the rest
// alone:
//
//     auto options = lifering::options::lan();
//     options.name = "cache-1";
//     options.cluster = "shop";
//     options.bind = "10.0.0.1:7946";
//
// All durations are kept to the millisecond. `validate()` says what is wrong and what would be
// right; the cluster object calls it too.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <lifering/config.hpp>
#include <lifering/error.hpp>
#include <lifering/member.hpp>
#include <lifering/ring.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lifering {

class keyring;    // <lifering/keyring.hpp>
class transport;  // <lifering/transport.hpp>

/// The protocol's clockwork. All members of a cluster should use the same values: peers judge each
/// other by their own.
struct protocol_options {
  /// Every member probes one other per interval, in shuffled rounds. A dead member is probed first
  /// after one interval in the mean, whatever the size of the cluster. 10 ms to 1 min. Halving it
  /// halves the detection time and doubles the idle traffic. Probes begin on fifths of it by the
  /// machine's monotonic clock, so that members on one machine wake it together.
  std::chrono::milliseconds probe_interval{500};

  /// How long a direct ping may take before other members are asked to try. Below probe_interval;
  /// set it above the 99th percentile of the round trip. The wait shortens by itself towards four
  /// times the measured round trip, never below a tenth of this value.
  std::chrono::milliseconds probe_timeout{200};

  /// Members that are asked to probe in our place when a direct ping went unanswered. 0 to 16.
  unsigned indirect_probes = 3;

  /// Shortest suspicion: multiplier x max(1, log10(members)) x probe_interval, reached when enough
  /// members suspect independently. 1 to 100; raise it where whole networks stall for seconds.
  unsigned suspicion_multiplier = 2;

  /// Longest suspicion as a multiple of the shortest, for an accuser that nobody confirms. 1 to
  /// 100.
  unsigned suspicion_stretch = 6;

  /// News is sent to `gossip_peers` random members every interval while there is any; failures,
  /// leaves and refutations are first sent at once. 1 ms to 1 min, at most 100 peers.
  std::chrono::milliseconds gossip_interval{200};
  unsigned gossip_peers = 3;

  /// A piece of news is sent multiplier x ceil(log10(members + 1)) times by each member. 1 to 100.
  unsigned retransmit_multiplier = 4;

  /// Each member compares its view with another one's this often, whatever the digests on probes
  /// say, scaled with log2 of the cluster's size above 32 members. 0 turns the timer off, which
  /// leaves the digests on probes to find differences. 100 ms to 1 day.
  std::chrono::milliseconds push_pull_interval{30000};

  /// Deadline of one stream operation (join, view exchange, probe by stream). 10 ms to 10 min.
  std::chrono::milliseconds stream_timeout{10000};

  /// How long failed and left members are remembered. At least 10 probe intervals; at most 7 days.
  std::chrono::milliseconds grave_time{std::chrono::hours{24}};

  /// A member that flaps is held down: from its second failure within five times this on it stays
  /// out of the ring for this long after it spoke up again, doubling with each further failure up
  /// to 16 times. Restarts don't count, nor failures of a quarter of the cluster at once. 0 turns
  /// it off; else 1 s to 1 h.
  std::chrono::milliseconds hold_down{std::chrono::minutes{1}};

  friend bool operator==(const protocol_options&, const protocol_options&) = default;
};

/// Bounds on what strangers and neighbours can make this process keep.
struct limit_options {
  std::size_t datagram = 1400;  ///< Bytes of UDP payload, 512 to 65507. Below the path's MTU.
  /// Bytes of a member's metadata, 0 to 16384. Up to 512 ride in gossip; larger metadata is pulled
  /// by each member over a stream when it changes, shortly after the `updated` or `joined` event
  /// that tells of it without it; another `updated` follows once it is there.
  std::size_t metadata = 16384;
  std::size_t members = 16384;  ///< Present members, 2 to 1,000,000.
  std::size_t graves = 4096;    ///< Failed and left members remembered, 16 to 1,000,000.
  /// Streams open at once, 4 to 10,000. Others may open three quarters of them, those who aren't at
  /// a member's address five eighths.
  std::size_t streams = 192;
  /// Streams that one source may have open to us at once, 1 to 10,000: an IPv4 address, or an IPv6
  /// network of 64 bits. Members behind one address share it; keep it well below `streams`, so that
  /// one stranger can't take all places.
  std::size_t streams_per_source = 64;
  std::size_t event_queue = 4096;  ///< Events waiting for the application, 16 to 1,000,000.

  /// Bytes of messages waiting for the application, each counted with 128 bytes more than its
  /// payload. 64 KiB to 1 GiB; what is larger than all of it never arrives. Beyond it direct and
  /// broadcast messages are dropped and counted, and reliable ones refused, which their sender is
  /// told.
  std::size_t message_queue = std::size_t{16} << 20;

  friend bool operator==(const limit_options&, const limit_options&) = default;
};

/// Whether the application can serve, which its answering of pings doesn't show: its disk may be
/// full, its database gone. While it can't, the member drains: it stays in the cluster, keeps its
/// name and its events, and gives its keys away; it takes them back by itself.
///
/// Moving keys costs more than a hiccup, hence the two times: a short fault moves nothing, and a
/// flapping one moves keys at most once in `bad_for + good_for`. When every member is sick, nobody
/// owns a key; so let this say what is wrong with this process and its machine, not with something
/// that all members share.
struct health_options {
  /// Called every `interval` where event handlers are called, never at the same time as one, so a
  /// handler that is stuck holds it up and isn't noticed. True:
  /// fine. A throw means false, and is counted. One that takes longer than `interval` means false
  /// until it returns. Empty: only cluster::set_health() tells.
  std::function<bool()> check;

  /// From the end of one call of `check` to the next. 10 ms to 1 h.
  std::chrono::milliseconds interval{1000};

  /// Bad for so long without a good word between: the keys are given away. 0 to 1 day; set it above
  /// the hiccups that a request survives.
  std::chrono::milliseconds bad_for{3000};

  /// Good for so long without a bad word between: they are taken back. 0 to 1 day; set it well
  /// above `bad_for`.
  std::chrono::milliseconds good_for{10000};
};

enum class log_level : std::uint8_t { debug, info, warning, error, off };

LIFERING_API std::string_view to_string(log_level level) noexcept;

/// Receives one line without its end. Called from the library's threads, one call at a time; must
/// not call back into the cluster object. The protocol waits for it meanwhile, so it should hand
/// the line on rather than write to what may be slow. One that throws loses its line.
using log_sink = std::function<void(log_level, std::string_view)>;

struct LIFERING_API options {
  // Who we are.

  std::string name;     ///< Required. 1 to 255 bytes, unique in the cluster, kept over restarts.
  std::string cluster;  ///< Required. 1 to 64 bytes; packets of other clusters are dropped.

  /// `IP:PORT` or `[IPV6]:PORT` to listen on, UDP and TCP. Port 0 lets the system choose. Default:
  /// every IPv4 interface, port 7946.
  std::string bind = "0.0.0.0:7946";

  /// The same or `HOST:PORT`, that others reach us at, when it differs from `bind`; without a port,
  /// the bound one. A host name is looked up by start(), which waits for it, and every 30 s
  /// afterwards; others are told its first address that the bound socket can reach, and of another
  /// one when that is gone. Empty: the bound address, or for a bind to
  /// 0.0.0.0 or [::] the one that the route to the first seed uses. Unspecified, multicast and
  /// broadcast addresses are refused. Seeds ping us there before they admit us. If none of them is
  /// answered, within some five seconds, since the port is wrong or a firewall stops UDP, join()
  /// fails with invalid_address, and nobody is told of us.
  std::string advertise;

  /// Networks whose packets and connections are heard, as `10.0.0.0/8`, `2001:db8::/32` or an
  /// address alone; all else is dropped and counted before it is read, and no member whose address
  /// lies elsewhere is admitted through us. Empty: every network. Give all members the same list.
  std::vector<std::string> allow;

  /// What carries the packets and streams, if it shall not be sockets of the library's own; see
  /// lifering/transport.hpp. It says which address we have; `bind` is a word to it, no more. Seeds,
  /// `advertise` and `allow` speak of its addresses. Null: sockets.
  std::shared_ptr<lifering::transport> transport;

  /// `IP:PORT` (IPv4) of the name server to ask for names and SRV records, instead of the system's
  /// configuration (/etc/hosts, resolv.conf, nsswitch.conf). Port 53 if none is given. Empty: the
  /// system's.
  std::string name_server;

  // Who may speak with us.

  /// The keys that packets are sealed with, and how; see lifering/keyring.hpp. Null: nothing is
  /// sealed, and sealed packets are dropped. With a keyring, in every mode, a datagram has 49 bytes
  /// less to fill, so that the mode can be changed at run time.
  std::shared_ptr<keyring> keys;

  std::string service;        ///< What `member::service` tells others. Up to 255 bytes.
  std::string zone;           ///< Failure domain, up to 64 bytes. Fixed while the object lives.
  std::string metadata;       ///< Up to `limits.metadata` bytes.
  lifering::weight weight{};  ///< Share of the ring against the others.
  member_phase phase = member_phase::serving;  ///< `joining`: own nothing until ready().

  // How keys are placed. Members that differ here refuse each other.
  placement_options placement = placement_options::slots();

  // How the protocol runs.
  protocol_options protocol{};
  limit_options limits{};

  /// The first change of a quiet ring is published at once. Further changes learned from others
  /// within this time are gathered, so that many failures at once become few rings: at most one
  /// each `ring_gather`, beside those that an operation of our own completes with. What a join
  /// brings before it completes is gathered likewise. Where building a ring takes more than a tenth
  /// of this time, because it is large or the machine busy, the next one also waits for a pause of
  /// a third of this time in the changes, but for no longer than ten times what the last one took
  /// and ten times this. No ring is later than the membership by more than that and its own build.
  /// 0 to 10 s; 0 publishes each.
  std::chrono::milliseconds ring_gather{300};

  /// How the application's own health counts.
  health_options health{};

  /// When cut off from everybody, keep the ring as it was and judge nobody (false), or declare the
  /// others failed after the longest suspicion and own all keys (true).
  bool take_all_when_isolated = false;

  // Seeing in.
  log_level level = log_level::info;
  log_sink log;  ///< Default: lines on stderr.

  /// One data centre: round trips of a few milliseconds. The defaults.
  static options lan();
  /// Across continents: round trips up to a second.
  static options wan();
  /// One machine or a test: loopback round trips; processes may wait most of a second for a core.
  static options local();

  /// What is wrong, in one sentence, or nothing. Checks every field against its range and against
  /// its neighbours. Safe from any thread.
  std::optional<problem> validate() const;
};

}  // namespace lifering
