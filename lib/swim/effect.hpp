// What the protocol machine asks for, as data. The shell carries effects out in order and decides
// nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <lifering/event.hpp>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.hpp"
#include "base/time.hpp"
#include "swim/input.hpp"
#include "swim/message.hpp"

namespace lifering::swim {

/// Send packet number `packet` of the buffer to this address.
struct send_datagram {
  endpoint to;
  std::size_t packet;
};

/// Connect to this address; give up after `deadline` from now for the whole life of the stream.
struct open_stream {
  stream_id stream;
  endpoint to;
  base::duration deadline;
};

/// Send packet number `packet` as a frame, after those queued before on the stream. Frames may be
/// queued before the stream is connected.
struct send_frame {
  stream_id stream;
  std::size_t packet;
};

/// Close after the queued frames were sent. The machine hears nothing of this stream any more.
struct close_stream {
  stream_id stream;
};

/// Find the addresses of a seed; answered by seed_resolved.
struct resolve_seed {
  std::string seed;
};

/// Something happened that the application is told. For `superseded` the shell stops as well.
struct member_changed {
  event_kind kind;
  record_ptr subject;
  std::uint64_t incarnation;
  member_state state;
};

/// A member says of itself what it said before, with a higher incarnation. It is no event, but
/// whoever shows members holds the newer record from now on, instead of both.
struct member_renewed {
  record_ptr subject;
  std::uint64_t incarnation;
  member_state state;
};

/// A command is done. `count`: seeds contacted (join), peers that acknowledged (leave).
struct completed {
  command_id command;
  std::error_code error;
  std::uint32_t count = 0;
  std::string detail;  ///< For people: why, naming the values concerned. May be empty.
  std::string
      lookups{};  ///< Of a join: why seeds have no addresses, which `seed_resolved` brought.
};

/// Bytes of the application arrived.
struct user_received {
  std::string from;
  std::string payload;
  message_kind kind;
};

using effect = std::variant<send_datagram, open_stream, send_frame, close_stream, resolve_seed,
                            member_changed, member_renewed, completed, user_received>;

/// The caller's buffer of effects. Packets live in slots that are reused, so that a steady state
/// allocates nothing. Not thread-safe.
class effects {
 public:
  /// Forgets all effects and keeps the storage, but not what a storm of news needed once.
  void clear() noexcept {
    list_.clear();
    if (list_.capacity() > effects_kept) list_ = std::vector<effect>();
    if (packets_.size() > packets_kept) packets_.resize(packets_kept);
    for (std::size_t i = 0; i < std::min(packets_used_, packets_.size()); ++i)
      packets_[i].clear();
    packets_used_ = 0;
  }

  std::span<const effect> list() const noexcept { return list_; }
  bool empty() const noexcept { return list_.empty(); }

  template <class Effect>
  void push(Effect value) {
    list_.emplace_back(std::in_place_type<Effect>, std::move(value));
  }

  /// Adds a datagram and returns its packet, cleared, to be filled in. The reference holds until
  /// the next call of a packet-making function.
  packet& datagram(const endpoint& to) {
    push(send_datagram{to, packets_used_});
    return next_packet();
  }

  /// Likewise for a frame of a stream.
  packet& frame(stream_id stream) {
    push(send_frame{stream, packets_used_});
    return next_packet();
  }

  const packet& packet_at(std::size_t index) const {
    LIFERING_CHECK(index < packets_used_);
    return packets_[index];
  }

 private:
  static constexpr std::size_t effects_kept = 64;
  static constexpr std::size_t packets_kept = 8;

  packet& next_packet() {
    if (packets_used_ == packets_.size()) packets_.emplace_back();
    return packets_[packets_used_++];
  }

  std::vector<effect> list_;
  std::vector<packet> packets_;
  std::size_t packets_used_ = 0;
};

}  // namespace lifering::swim
