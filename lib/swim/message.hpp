// The protocol's messages as plain values. Datagrams and stream frames carry the same type, a
// packet; only their size limits differ. lib/wire turns packets into bytes and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <lifering/member.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "swim/record.hpp"

namespace lifering::swim {

// Limits that every decoder enforces and every size bound relies on.
inline constexpr std::size_t name_max = 255;
inline constexpr std::size_t cluster_id_max = 64;
inline constexpr std::size_t zone_max = 64;
inline constexpr std::size_t service_max = 255;
inline constexpr std::size_t metadata_max = 16384;
inline constexpr std::size_t unknown_fields_max = 1024;
inline constexpr std::size_t user_payload_max = std::size_t{1} << 20;

/// Who sends, in every packet. The digest and the fingerprint let two peers see at once whether
/// they agree; the placement's id lets a peer that places keys otherwise be refused at any contact.
struct sender {
  std::string name;
  std::uint64_t epoch = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t placement = 0;         ///< Placement and its parameters.
  std::uint64_t view_digest = 0;       ///< Over (name, epoch, incarnation) of present members.
  std::uint64_t ring_fingerprint = 0;  ///< Over what decides ownership; 0 when not known.
  std::uint64_t known_members = 0;     ///< Present members in the sender's view, itself included.

  /// Everybody knows itself.
  bool speaks_of_view() const noexcept { return known_members != 0; }

  friend bool operator==(const sender&, const sender&) = default;
};

// Bodies. A packet has at most one of them, beside its updates.

/// Are you there? (SWIM 3.1). Names the life that is meant, so that another one at the same address
/// doesn't answer for it.
struct ping {
  std::uint64_t sequence = 0;
  std::string target;
  std::uint64_t target_epoch = 0;
  friend bool operator==(const ping&, const ping&) = default;
};

/// Ask the target in my place (SWIM 3.1).
struct ping_request {
  std::uint64_t sequence = 0;
  std::string target;
  std::uint64_t target_epoch = 0;
  endpoint target_address;
  std::uint32_t timeout_ms = 0;  ///< How long the asker waits; a nack is due at 80 % of it.
  friend bool operator==(const ping_request&, const ping_request&) = default;
};

/// I am here, or (relayed) the target is. `sequence` is that of the ping or ping_request.
struct ack {
  std::uint64_t sequence = 0;
  friend bool operator==(const ack&, const ack&) = default;
};

/// The target didn't answer me yet, but I do (Lifeguard, section IV-A).
struct nack {
  std::uint64_t sequence = 0;
  friend bool operator==(const nack&, const nack&) = default;
};

/// Opens a stream to join or to compare views. Followed by `view_rows` packets of the sender.
struct sync_request {
  bool join = false;   ///< The sender wants in.
  bool fresh = false;  ///< The sender's epoch is provisional: no cluster has confirmed it yet.
  friend bool operator==(const sync_request&, const sync_request&) = default;
};

/// One row of a view: a present member's record, or the grave of a failed or left one.
struct view_row {
  record_ptr subject;             ///< Present members and graves alike.
  std::uint64_t incarnation = 0;  ///< As recorded; may be above the record's own.
  member_state state = member_state::alive;
  std::uint32_t failures = 0;     ///< How often this life was declared failed lately.
  std::uint32_t age_seconds = 0;  ///< Of a grave, so that it ends everywhere at about one time.

  bool present() const noexcept {
    return state == member_state::alive || state == member_state::suspect;
  }
  friend bool operator==(const view_row& a, const view_row& b) {
    return a.incarnation == b.incarnation && a.state == b.state && a.failures == b.failures &&
           a.age_seconds == b.age_seconds &&
           (a.subject == b.subject || (a.subject && b.subject && *a.subject == *b.subject));
  }
};

/// A part of the sender's view. A long view takes several packets.
struct view_rows {
  std::vector<view_row> rows;
  bool last = false;
  friend bool operator==(const view_rows&, const view_rows&) = default;
};

/// Answers a sync_request; followed by `view_rows` packets of the sender.
struct sync_reply {
  /// The greatest epoch remembered for the asker's name, 0 if none: a fresh life starts above it.
  std::uint64_t remembered_epoch = 0;
  /// The asker's address as the seed saw it, for members behind an address translation.
  endpoint seen_address;
  friend bool operator==(const sync_reply&, const sync_reply&) = default;
};

// The delta exchange, on datagrams: which parts of two views differ, then which members in them,
// then only those. A view is cut into buckets by the hash of the name; `view_buckets_max` of them,
// or a smaller power of two if so many don't fit into a datagram.

inline constexpr std::size_t view_buckets_max = 128;

/// The sender's digest of each bucket: the sum of digest_of() over its present members.
struct view_compare {
  std::vector<std::uint64_t> buckets;  ///< A power of two of them.
  friend bool operator==(const view_compare&, const view_compare&) = default;
};

/// All present members of some buckets, by hashes. Answers a view_compare.
struct view_summary {
  std::uint32_t bucket_count = 0;
  std::vector<std::uint32_t> buckets;  ///< Those that are listed here completely.
  std::vector<std::uint64_t> names;    ///< hash_bytes() of each member's name...
  std::vector<std::uint64_t> digests;  ///< ...and its digest_of(), in the same order.
  friend bool operator==(const view_summary&, const view_summary&) = default;
};

/// Rows that the other lacks or holds otherwise, and the hashes of names whose rows are wanted.
struct view_delta {
  std::vector<view_row> rows;
  std::vector<std::uint64_t> wanted;
  friend bool operator==(const view_delta&, const view_delta&) = default;
};

enum class refusal_reason : std::uint8_t {
  wrong_cluster,
  wrong_version,
  wrong_placement,
  name_in_use,
  too_many_members,
  invalid_member,  ///< The asker can't be a member: nobody reaches it where it says that it is.
  busy,
  ourselves,  ///< The asker has called itself, at an address that it took for another's.
};

/// Why the sender won't go on with this stream, or (as a datagram) with this member.
struct refusal {
  refusal_reason reason{};
  std::string detail;  ///< For people; at most name_max bytes.
  friend bool operator==(const refusal&, const refusal&) = default;
};

/// Bytes of the application. On a datagram best-effort, on a stream reliable.
struct user_message {
  std::uint64_t sequence = 0;  ///< hash_bytes() of whom it is for; a stream's ack repeats it.
  std::string payload;
  friend bool operator==(const user_message&, const user_message&) = default;
};

/// On a stream: your copy of a member's large metadata, please.
struct metadata_pull {
  std::string name;
  std::uint64_t epoch = 0;
  std::uint64_t hash = 0;
  friend bool operator==(const metadata_pull&, const metadata_pull&) = default;
};

/// Answers a metadata_pull.
struct metadata_push {
  std::uint64_t hash = 0;
  std::string bytes;
  friend bool operator==(const metadata_push&, const metadata_push&) = default;
};

/// Broadcasts of one life after a number, please: some were missed. Answered by a packet that
/// carries them.
struct broadcast_pull {
  std::string origin;
  std::uint64_t epoch = 0;
  std::uint64_t after = 0;
  friend bool operator==(const broadcast_pull&, const broadcast_pull&) = default;
};

using body = std::variant<std::monostate, ping, ping_request, ack, nack, sync_request, sync_reply,
                          view_rows, refusal, user_message, view_compare, view_summary, view_delta,
                          broadcast_pull, metadata_pull, metadata_push>;

// Updates: the gossip that rides on any packet (SWIM 4.1).

enum class update_kind : std::uint8_t { alive, suspect, failed, left };

/// One claim about one member.
struct update {
  update_kind kind = update_kind::alive;

  /// alive: the whole record. Otherwise empty on receipt (the three fields below tell who is
  /// meant); a sender may leave its own record here and the codec takes name and epoch from it.
  record_ptr subject;

  std::string name;               ///< Who is meant, for all kinds but alive.
  std::uint64_t epoch = 0;        ///< Likewise.
  std::uint64_t incarnation = 0;  ///< The claim's incarnation, for all kinds.

  std::string accuser;  ///< suspect, failed: the member that raised it.
  std::uint64_t accuser_epoch = 0;

  /// suspect: the accuser's host said that nobody listens there (evidence of a dead process).
  /// failed: ignored.
  bool refused = false;

  /// failed: independent accusers behind the verdict.
  std::uint32_t witnesses = 0;

  /// failed: how often this life was declared failed lately, this time included. 0 when this one
  /// doesn't count (hold_down.hpp).
  std::uint32_t failures = 0;

  std::string_view subject_name() const noexcept {
    return subject ? std::string_view(subject->name) : std::string_view(name);
  }
  std::uint64_t subject_epoch() const noexcept { return subject ? subject->epoch : epoch; }

  friend bool operator==(const update& a, const update& b) {
    const bool same_record =
        a.subject == b.subject || (a.subject && b.subject && *a.subject == *b.subject);
    return a.kind == b.kind && same_record && a.name == b.name && a.epoch == b.epoch &&
           a.incarnation == b.incarnation && a.accuser == b.accuser &&
           a.accuser_epoch == b.accuser_epoch && a.refused == b.refused &&
           a.witnesses == b.witnesses && a.failures == b.failures;
  }
};

/// A broadcast of the application: gossiped to all, delivered once per (origin, epoch, sequence).
struct broadcast {
  std::string origin;
  std::uint64_t origin_epoch = 0;
  std::uint64_t sequence = 0;
  std::string payload;
  friend bool operator==(const broadcast&, const broadcast&) = default;
};

/// What travels in one datagram or one stream frame.
struct packet {
  sender from;
  swim::body body;
  std::vector<update> updates;
  std::vector<broadcast> broadcasts;
  std::string spare;  ///< Storage of a name, between two pings.

  /// Updates, and broadcasts, whose storage is kept: what a datagram has room for. Frames have
  /// more.
  static constexpr std::size_t updates_kept = 64;

  /// Back to an empty packet; keeps the storage, but not that of a view or of much news.
  void clear();

  // Make the body a ping or a ping request, without taking anything from the heap once the packet
  // has had one.
  void ask(std::uint64_t sequence, std::string_view target, std::uint64_t epoch);
  void ask_helper(std::uint64_t sequence, const record& target, std::uint32_t timeout_ms);

  friend bool operator==(const packet& a, const packet& b) {
    return a.from == b.from && a.body == b.body && a.updates == b.updates &&
           a.broadcasts == b.broadcasts;
  }
};

// Upper bounds of the encoded sizes, as pure functions, so that the protocol can fill a datagram
// without knowing the codec. The codec's tests prove that no encoding exceeds them.

std::size_t size_bound(const record& value) noexcept;
std::size_t size_bound(const update& value) noexcept;
std::size_t size_bound(const broadcast& value) noexcept;
std::size_t size_bound(const view_row& value) noexcept;
std::size_t size_bound(const sender& value) noexcept;
std::size_t size_bound(const body& value) noexcept;
/// The whole packet: the sum of the parts.
std::size_t size_bound(const packet& value) noexcept;

}  // namespace lifering::swim
