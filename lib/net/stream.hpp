// One connection that carries frames: connecting or accepted, reading and writing until either
// side closes or its one deadline passes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <memory>
#include <span>
#include <system_error>
#include <vector>

#include "base/time.hpp"
#include "net/connection.hpp"
#include "net/io.hpp"
#include "swim/input.hpp"
#include "wire/frame_reader.hpp"

namespace lifering::net {

class stream_set;

/// Lives in its set until it is over, and in the handlers of its operations until they have ended.
/// One caller at a time: the set's executor.
class stream final : public connection_user, public std::enable_shared_from_this<stream> {
 public:
  /// `source`: as whose it is counted, if it was accepted.
  stream(stream_set& owner, swim::stream_id id, std::unique_ptr<connection> by,
         const endpoint& source = {});

  /// The whole life of the stream must be over by then.
  void set_deadline(base::duration from_now);

  /// Has the connection made.
  void connect();

  /// Goes on with a connection that stands.
  void start();

  /// Reports an end from a later turn: for what goes wrong before anything is under way.
  void fail_later(std::error_code error);

  /// Adds a frame to what send_queued() sends.
  void queue(std::span<const std::uint8_t> frame) {
    queued_.insert(queued_.end(), frame.begin(), frame.end());
  }
  void send_queued();

  /// Ends at once and says so.
  void fail(std::error_code error);

  /// Says nothing from now on, and ends when what is queued was sent and the peer has seen it.
  void release();

  bool is_released() const noexcept { return released_; }

  /// Says nothing from now on, and ends at once.
  void abort();

 private:
  enum class phase : std::uint8_t { connecting, open, over };

  void connected(std::error_code error) override;
  void read_some();
  void arrived(std::error_code error, std::size_t size) override;
  void hand_out(std::size_t size);
  void written(std::error_code error, std::size_t size) override;
  void finish_sending();
  void end();

  stream_set& owner_;
  const swim::stream_id id_;
  const endpoint source_;
  const std::unique_ptr<connection> connection_;  // None where it could not be made.
  io::timer deadline_;
  phase phase_ = phase::connecting;
  bool released_ = false;   // Nobody listens any more.
  bool finished_ = false;   // Our end of stream was sent.
  bool peer_done_ = false;  // The peer's end of stream arrived.
  bool writing_ = false;
  bool is_answered_ = false;  // The peer has sent anything.
  std::vector<std::uint8_t> queued_;
  std::vector<std::uint8_t> in_flight_;
  std::array<std::uint8_t, 2048> chunk_{};
  wire::frame_reader reader_;
};

}  // namespace lifering::net
