// What changed: the events of a cluster, and the promises about their order.
//
// Promises, for one cluster object:
//   - Events are delivered one at a time, never concurrently, never under a lock, and numbered
//     without a gap from 1 (`number`), unless `merged` says how many were folded into one because
//     the application was slower than the cluster.
//   - Events of one member alternate properly: `joined` comes first; `suspected` is followed by
//     `recovered`, `failed`, `left` or an `updated` of a newer life; `failed` and `left` are
//     followed by `joined`.
//   - When an event of a member is delivered, the ring that includes its change is already
//     published; the `ring` event of that batch follows the member events that caused it.
//   - The member itself has no events of its own arrival; its own changes (metadata, weight) are
//     reported as `updated` once they are in its view.
#pragma once

#include <chrono>
#include <cstdint>
#include <lifering/config.hpp>
#include <lifering/member.hpp>
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

}  // namespace lifering
