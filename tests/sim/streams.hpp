// Simulated streams: TCP's behaviour over the same network, as far as a member can see it.
//
// A lost SYN or SYN-ACK costs 1 s, doubling; a lost segment 200 ms, doubling. Cuts block a stream
// in both directions, since the acknowledgements don't come back either. A paused process's kernel
// still accepts and receives. A process that ends resets its streams; a host that vanishes says
// nothing, and the deadline ends what hangs on it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <lifering/endpoint.hpp>
#include <map>
#include <memory>
#include <span>
#include <system_error>
#include <vector>

#include "sim/hosts.hpp"
#include "sim/network.hpp"
#include "sim/world.hpp"
#include "swim/input.hpp"

namespace lifering::sim {

struct stream_counters {
  std::uint64_t opened = 0;
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t reset = 0;
  std::uint64_t frames = 0;
  std::uint64_t retries = 0;  ///< Lost or blocked handshakes and segments.
};

/// What a process hears of its streams.
class stream_user {
 public:
  virtual ~stream_user() = default;
  virtual void on_opened(node_id node, swim::stream_id stream) = 0;
  virtual void on_accepted(node_id node, swim::stream_id stream, const endpoint& from) = 0;
  virtual void on_frame(node_id node, swim::stream_id stream,
                        std::span<const std::uint8_t> bytes) = 0;
  virtual void on_ended(node_id node, swim::stream_id stream, std::error_code error) = 0;
};

class streams {
 public:
  static constexpr std::size_t segment = 1448;
  static constexpr duration handshake_timeout = std::chrono::seconds{1};
  static constexpr duration segment_timeout = std::chrono::milliseconds{200};

  /// `accepted_deadline` bounds the life of a stream at the side that accepted it.
  streams(world& clock, hosts& where, network& packets, stream_user& user,
          duration accepted_deadline);

  void open(node_id node, swim::stream_id stream, const endpoint& to, duration deadline);
  void send(node_id node, swim::stream_id stream, std::span<const std::uint8_t> frame);
  /// After the frames sent before. The closing side hears nothing any more.
  void close(node_id node, swim::stream_id stream);
  /// The process of `node` ended; to be called after hosts::stop().
  void process_ended(node_id node, presence left_behind);

  const stream_counters& counters() const noexcept { return counters_; }
  std::size_t open_ends() const noexcept { return ends_.size(); }

 private:
  enum class item_kind : std::uint8_t { accept, frame, end };
  struct item {
    item_kind kind;
    std::vector<std::uint8_t> bytes;
    std::size_t segments_left = 1;
    bool through = false;  // Every segment has arrived; may still wait for those before it.
    time_point through_at;
  };
  /// One end, and what travels from it to the other.
  struct end {
    node_id node = 0;
    std::uint32_t life = 0;
    swim::stream_id id{};
    bool listening = false;  // The process wants to hear of it.
    std::deque<std::shared_ptr<item>> outgoing;
    time_point last_arrival;
  };
  struct connection {
    end ends[2];  // Opener, acceptor.
    endpoint to;
    endpoint from;
    bool established = false;
  };
  using link = std::shared_ptr<connection>;
  struct end_ref {
    link of;
    int side = 0;
  };

  void handshake(const link& which, unsigned attempt);
  void handshake_again(const link& which, unsigned attempt);
  void reach_listener(const link& which, unsigned attempt);
  void establish(const link& which);
  void queue(const link& which, int side, item_kind kind, std::span<const std::uint8_t> bytes);
  void transmit(const link& which, int side, const std::shared_ptr<item>& what, unsigned attempt);
  void hand_over(const link& which, int side);
  void arrive(const link& which, int side, item& what);
  void accept(const link& which);
  void end_side(const link& which, int side, std::error_code error);
  void reset_other(const link& which, int side);
  void expire_after(const link& which, int side, duration deadline);
  bool alive(const connection& which, int side) const noexcept;

  world& clock_;
  hosts& hosts_;
  network& network_;
  stream_user& user_;
  duration accepted_deadline_;
  stream_counters counters_;
  std::vector<std::uint64_t> accepted_so_far_;  // By node_id.
  std::map<std::pair<node_id, swim::stream_id>, end_ref> ends_;
};

}  // namespace lifering::sim
