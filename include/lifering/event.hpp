// What changed: the events of a cluster, and the promises about their order. And what applications
// say to each other through it: messages.
//
// Promises, for one cluster object:
//   - Events are delivered one at a time, never concurrently, never under a lock, and numbered
//     without a gap from 1 (`number`), unless `merged` says how many were folded into one because
//     the application was slower than the cluster.
//   - Events of one member alternate properly: `joined` comes first; `suspected` is followed by
//     `recovered`, `failed`, `left` or an `updated` of a newer life; `failed` and `left` are
//     followed by `joined`.
//   - When an event of a member is delivered, the ring that includes its change is already
//     published; the `ring` event of that batch follows the member events that caused it. Where
//     `options::ring_gather` holds a ring back, it holds back the events too.
//   - The member itself has no events of its own arrival; its own changes (metadata, weight) are
//     reported as `updated` once they are in its view.
#pragma once

#include <chrono>
#include <cstdint>
#include <lifering/config.hpp>
#include <lifering/member.hpp>
#include <string>
#include <string_view>
#include <variant>

namespace lifering {

/// What happened to a member.
enum class event_kind : std::uint8_t {
  joined,      ///< Unknown, failed or left before; present now.
  updated,     ///< Still present; a newer life, address, metadata, weight, zone or phase.
  suspected,   ///< Missed probes. No key moved.
  recovered,   ///< Was suspected and spoke up.
  failed,      ///< Declared dead; out of the ring.
  left,        ///< Said goodbye; out of the ring.
  superseded,  ///< About ourselves: a newer life of our name exists. This object has stopped.
  isolated,    ///< About ourselves: nobody was heard for so long that we stopped judging others.
};

LIFERING_API std::string_view to_string(event_kind kind) noexcept;

/// A change of one member. `subject` is its state after the change.
struct member_event {
  event_kind kind{};
  std::uint64_t number = 0;
  std::chrono::system_clock::time_point time;  ///< When this process learned it; for people.
  std::uint32_t merged = 0;                    ///< Earlier events of this member folded into it.
  member subject;
};

/// A new ring was published.
struct ring_event {
  std::uint64_t number = 0;
  std::chrono::system_clock::time_point time;
  std::uint64_t version = 0;      ///< Counts this process's publications.
  std::uint64_t fingerprint = 0;  ///< Equal on two peers exactly when they place all keys alike.
  std::size_t members = 0;        ///< Nodes in the ring.
  double moved = 0;               ///< Share of the key space that changed its owner, 0 to 1.
};

using event = std::variant<member_event, ring_event>;

/// The way that a message took.
enum class message_kind : std::uint8_t {
  direct,     ///< send(): one datagram to one member. May be lost, or come twice.
  reliable,   ///< send_reliably(): its sender is told whether it arrived.
  broadcast,  ///< broadcast(): gossiped to all; comes once.
};

LIFERING_API std::string_view to_string(message_kind kind) noexcept;

/// Bytes that the application of another member sent.
///
/// Messages are handed over in the order in which they arrived, one at a time and never at the same
/// time as an event. Against events they are in no order: one may come just before the `joined` of
/// its sender. Different ways overtake each other.
struct message {
  std::string from;  ///< The sender's name.
  message_kind kind{};
  std::string payload;
  std::chrono::system_clock::time_point time;  ///< When it arrived here; for people.
};

}  // namespace lifering
