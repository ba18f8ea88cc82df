// The streams of a member: opens and accepts them, finds them by id, and bounds their number and
// what they may queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <map>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "base/scratch.hpp"
#include "base/time.hpp"
#include "net/connection.hpp"
#include "net/counters.hpp"
#include "net/encoding.hpp"
#include "net/io.hpp"
#include "net/operations.hpp"
#include "net/stream.hpp"
#include "swim/input.hpp"
#include "wire/decode_error.hpp"

namespace lifering::net {

/// Told by a stream_set, on its executor, never from within a call of the set's functions but
/// accept(). May call all of them.
class stream_handler {
 public:
  virtual void stream_opened(swim::stream_id id) = 0;
  virtual void stream_accepted(swim::stream_id id, const endpoint& from) = 0;
  virtual void frame_received(swim::stream_id id, std::span<const std::uint8_t> frame) = 0;
  /// What arrived can't be a frame of ours; nothing more is read. Whoever is told ends the stream.
  virtual void frame_refused(swim::stream_id id, wire::decode_error error) = 0;
  virtual void stream_ended(swim::stream_id id, std::error_code error) = 0;
  /// Whether a member is at that source, an address without a port. Asked when places are few.
  virtual bool is_members_source(const endpoint& source) = 0;
  /// After one or more of the calls above.
  virtual void batch_ended() = 0;

 protected:
  ~stream_handler() = default;
};

class stream_set {
 public:
  /// What all streams together may have queued. A whole view is a few megabytes in the largest
  /// cluster; peers that ask for it and don't read must not add up to more than this.
  static constexpr std::size_t queued_max = std::size_t{64} << 20;

  struct settings {
    std::size_t streams_max = 0;         ///< Open at once.
    std::size_t per_source_max = 0;      ///< Accepted ones at once from one source.
    base::duration accepted_deadline{};  ///< For the whole life of an accepted stream.
  };

  /// `connections`: what makes those that we open.
  stream_set(io::executor executor, settings with, connector& connections, operations& pending,
             stream_handler& handler, counters& count);

  /// Connects. Whatever goes wrong is told as stream_ended, also that there are too many.
  void open(swim::stream_id id, const endpoint& to, base::duration deadline);

  /// Takes a connection that a peer made, or closes it when there are too many, of all or of its
  /// source. Three quarters of all places are for such; strangers can't take the last sixth of
  /// these, so that members are heard while somebody opens connections as fast as he can.
  void accept(std::unique_ptr<connection> made, const endpoint& from);

  /// Queues a frame; `fill` appends its bytes to the vector that it is given. Of a stream that is
  /// over nothing is sent.
  template <class Fill>
  void send(swim::stream_id id, Fill&& fill) {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    const base::scratch<encoding> frame;
    std::forward<Fill>(fill)(frame->bytes);
    found->second->queue(frame->bytes);
    queued_ += frame->bytes.size();
    sent_to(found->second);
  }

  /// Closes after what is queued was sent; nothing of this stream is told any more.
  void close(swim::stream_id id);

  /// Ends a stream at once and without a word, unless it is closing.
  void drop(swim::stream_id id);

  /// Likewise all streams.
  void stop();

  /// Whether a connection from that source, an address without a port, is open.
  bool has_accepted_from(const endpoint& source) const { return accepted_from_.contains(source); }

  /// Those that hold a socket, also those that only wait for their peer's end.
  std::size_t size() const noexcept { return streams_.size(); }

  /// Bytes that the system has not taken yet.
  std::size_t queued() const noexcept { return queued_; }

 private:
  friend class stream;

  void sent_to(const std::shared_ptr<stream>& to);
  void accepted_ended(const endpoint& source);
  std::size_t accepted_max() const noexcept { return settings_.streams_max * 3 / 4; }
  std::size_t strangers_max() const noexcept { return settings_.streams_max * 5 / 8; }

  io::executor executor_;
  const settings settings_;
  connector& connector_;
  operations& pending_;
  stream_handler& handler_;
  counters& count_;
  std::map<swim::stream_id, std::shared_ptr<stream>> streams_;
  std::size_t accepted_ = 0;
  std::map<endpoint, std::size_t> accepted_from_;  // By source, those that have any.
  std::size_t queued_ = 0;
  std::uint64_t next_accepted_ = 0;
};

}  // namespace lifering::net
