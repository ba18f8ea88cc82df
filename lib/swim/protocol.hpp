// The protocol machine: SWIM with Lifeguard as a value. It is told what happened and when, and
// answers with effects. It knows no socket, clock, thread or codec, and allocates nothing per
// packet in a steady state.
//
// The host's duties:
//   1. Call advance(now) when next_deadline() has come, and whenever else it likes.
//   2. Hand in what the transport and the application say, one handle() at a time, with a `now`
//      that never goes back.
//   3. After each call carry out the effects in order, then clear them.
//   4. Stop when a `superseded` event or the completion of a leave says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/rng.hpp"
#include "base/time.hpp"
#include "swim/config.hpp"
#include "swim/effect.hpp"
#include "swim/input.hpp"
#include "swim/record.hpp"
#include "swim/stats.hpp"

namespace lifering::swim {

class machine;

/// Not thread-safe: one caller at a time. Movable, not copyable.
class protocol {
 public:
  /// `self` describes this member; its epoch is chosen here unless it is given (not 0), its
  /// incarnation starts at 1. All randomness comes from `random`.
  protocol(config settings, record self, base::rng random, base::time_point now);
  ~protocol();
  protocol(protocol&&) noexcept;
  protocol& operator=(protocol&&) noexcept;

  /// When advance() must be called at the latest. Changes with every call.
  base::time_point next_deadline() const;

  /// Time has passed: does everything that is due.
  void advance(base::time_point now, effects& out);

  void handle(base::time_point now, const packet_received& input, effects& out);
  void handle(base::time_point now, const stream_opened& input, effects& out);
  void handle(base::time_point now, const stream_accepted& input, effects& out);
  void handle(base::time_point now, const stream_received& input, effects& out);
  void handle(base::time_point now, const stream_ended& input, effects& out);
  void handle(base::time_point now, const peer_refused& input, effects& out);
  void handle(base::time_point now, const send_failed& input, effects& out);
  void handle(base::time_point now, const seed_resolved& input, effects& out);

  void handle(base::time_point now, const join_command& input, effects& out);
  void handle(base::time_point now, const leave_command& input, effects& out);
  void handle(base::time_point now, const cancel_command& input, effects& out);
  void handle(base::time_point now, const update_command& input, effects& out);
  void handle(base::time_point now, const forget_command& input, effects& out);
  void handle(base::time_point now, const send_command& input, effects& out);

  /// What decides ownership, for the sender part of packets: the facade sets it after each batch.
  void set_ring_fingerprint(std::uint64_t fingerprint) noexcept;

  /// Starts with this full view instead of joining (simulated clusters that are `formed`).
  void adopt_view(base::time_point now, std::span<const record_ptr> members);

  /// How long a payload may be that is sent to one member by datagram, and to all.
  std::size_t direct_payload_max() const;
  std::size_t broadcast_payload_max() const;

  /// A packet of ours with as much news as fits into `budget` bytes altogether, none if nothing
  /// does. The news doesn't count as sent: anybody may ask for it, again and again.
  packet news_within(std::size_t budget) const;

  /// Our own record as it is gossiped now.
  const record_ptr& self() const noexcept;

  /// Calls `visit(const record_ptr&, incarnation, member_state)` for every member known, ourselves
  /// and graves included, in no particular order.
  using visitor = std::function<void(const record_ptr&, std::uint64_t, member_state)>;
  void for_each_member(const visitor& visit) const;

  /// The row of one name, if known.
  bool find_member(std::string_view name, view_row& row) const;

  /// Present members, ourselves included (not after a leave).
  std::size_t present_members() const noexcept;
  std::size_t graves() const noexcept;
  std::size_t queued_updates() const noexcept;
  std::size_t suspicions() const noexcept;

  /// Order-independent digest over (name, epoch, incarnation) of present members.
  std::uint64_t view_digest() const noexcept;

  /// The others declared us failed several times of late, and we stay away for a while: our own row
  /// says failed, and `failed` and `joined` events about ourselves frame the time.
  bool held_down() const noexcept;

  /// Lifeguard's score: 0 is healthy.
  unsigned local_health() const noexcept;

  /// Peers heard from lately, and since our own ring changed, by whether their ring fingerprint
  /// equals ours.
  struct peer_agreement {
    std::size_t agreeing = 0;
    std::size_t differing = 0;
    std::size_t unheard = 0;  ///< Other present members.
    base::time_point since;   ///< Since when all of them have agreed; never if they don't.
  };
  peer_agreement agreement(base::time_point now) const;

  const swim::stats& stats() const noexcept;
  swim::gauges gauges() const noexcept;
  const config& settings() const noexcept;

 private:
  std::unique_ptr<machine> machine_;
};

}  // namespace lifering::swim
