// The side of a custom transport that its threads see: from any of them to the strand, without
// waiting and within bounds.
#pragma once

#include <asio/post.hpp>
#include <cstddef>
#include <cstdint>
#include <lifering/endpoint.hpp>
#include <lifering/transport.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "net/io.hpp"

namespace lifering::net {

/// What has arrived and waits for its turn, in the order of arrival.
struct transport_inbox {
  struct item {
    endpoint peer;
    std::size_t size = 0;  ///< Of its bytes, which follow those of the items before it.
    bool is_refusal = false;
  };
  std::vector<item> items;
  std::vector<std::uint8_t> bytes;

  std::size_t footprint() const noexcept { return bytes.size() + items.size() * sizeof(item); }
};

/// Given to the transport, which may keep it as long as it likes; so is held by shared_ptr.
class transport_link final : public transport::listener,
                             public std::enable_shared_from_this<transport_link> {
 public:
  /// Told on the strand.
  class owner {
   public:
    virtual void inbox_filled() = 0;
    virtual void accepted(std::shared_ptr<transport_stream> made, const endpoint& from) = 0;

   protected:
    ~owner() = default;
  };

  /// What waits at most, in bytes with what it costs to keep them.
  static constexpr std::size_t inbox_max = std::size_t{4} << 20;

  /// Accepted streams that wait at most; a listening socket has as many.
  static constexpr std::size_t accepted_max = 128;

  transport_link(io::executor executor, owner& told);

  // Any thread.

  void datagram_received(const endpoint& from, std::span<const std::uint8_t> bytes) override;
  void peer_refused(const endpoint& peer) override;
  void stream_accepted(const endpoint& from, std::shared_ptr<transport_stream> made) override;

  /// Has `turn` run on the strand, if the link is open by now; asks is_open() if it must know then.
  template <class Turn>
  void post(Turn&& turn) {
    const std::lock_guard lock(mutex_);
    if (executor_) asio::post(*executor_, std::forward<Turn>(turn));
  }

  // On the strand.

  /// Takes what waits, in exchange for an empty one, whose memory is used again. False: nothing
  /// waited, and the next arrival will call inbox_filled().
  bool take(transport_inbox& into);

  /// Datagrams that found no room since this was asked last.
  std::size_t take_overflow();

  bool is_open() const noexcept { return told_ != nullptr; }

  /// Nobody is told anything any more.
  void close();

 private:
  void put(const endpoint& peer, std::span<const std::uint8_t> bytes, bool is_refusal);

  std::mutex mutex_;
  std::optional<io::executor> executor_;  // While the link is open.
  transport_inbox inbox_;
  bool is_told_ = false;  // inbox_filled() was called, and take() hasn't found nothing since.
  std::size_t overflow_ = 0;
  std::size_t accepted_waiting_ = 0;
  owner* told_;  // Of the strand alone.
};

}  // namespace lifering::net
