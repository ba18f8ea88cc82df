// The carrier over a transport of the application.
#include <algorithm>
#include <asio/error.hpp>
#include <atomic>
#include <utility>

#include "base/check.hpp"
#include "net/advertise.hpp"
#include "net/carrier.hpp"
#include "net/transport_link.hpp"

namespace lifering::net {
namespace {

/// Taken in one turn, so that a flood of datagrams can't keep timers and streams waiting.
constexpr std::size_t datagrams_per_turn = 64;

/// What a transport reads into or writes from. It belongs to the completion, so that no transport,
/// however late, touches memory that is gone.
struct operation_buffer {
  explicit operation_buffer(std::size_t size) : bytes(size) {}
  std::vector<std::uint8_t> bytes;
  std::atomic<bool> is_done = false;
};

/// One of the transport's streams. Between its user and the transport's threads stands the link.
class transport_connection final : public connection {
 public:
  transport_connection(std::shared_ptr<transport_link> link, std::shared_ptr<transport> given,
                       const endpoint& to)
      : link_(std::move(link)), transport_(std::move(given)), to_(to) {}
  transport_connection(std::shared_ptr<transport_link> link, std::shared_ptr<transport_stream> made)
      : link_(std::move(link)), stream_(std::move(made)) {}
  ~transport_connection() override { close(); }

  void connect(std::shared_ptr<connection_user> user) override;
  void read_some(std::span<std::uint8_t> into, std::shared_ptr<connection_user> user) override;
  void write(std::span<const std::uint8_t> bytes, std::shared_ptr<connection_user> user) override;
  void end_sending() override { stream_->shutdown_send(); }

  void close() override {
    is_closed_ = true;
    if (stream_) stream_->close();
    stream_.reset();
  }

 private:
  void connected(std::error_code error, std::shared_ptr<transport_stream> made,
                 connection_user& user);

  const std::shared_ptr<transport_link> link_;
  const std::shared_ptr<transport> transport_;
  const endpoint to_;
  std::shared_ptr<transport_stream> stream_;
  bool is_closed_ = false;
};

void transport_connection::connect(std::shared_ptr<connection_user> user) {
  const auto is_done = std::make_shared<std::atomic<bool>>(false);
  transport_->async_connect(to_,
                            [this, link = link_, weak = std::weak_ptr(user), is_done](
                                std::error_code error, std::shared_ptr<transport_stream> made) {
                              if (is_done->exchange(true)) return;
                              link->post([this, link, weak, error, made = std::move(made)] {
                                // While the user lives, so does its connection.
                                if (const auto held = weak.lock()) {
                                  connected(error, made, *held);
                                } else if (made && link->is_open()) {
                                  made->close();
                                }
                              });
                            });
}

void transport_connection::connected(std::error_code error, std::shared_ptr<transport_stream> made,
                                     connection_user& user) {
  if (is_closed_) {
    if (made) made->close();
    return;
  }
  if (!error && !made) error = asio::error::connection_refused;
  if (!error) stream_ = std::move(made);
  user.connected(error);
}

void transport_connection::read_some(std::span<std::uint8_t> into,
                                     std::shared_ptr<connection_user> user) {
  const auto buffer = std::make_shared<operation_buffer>(into.size());
  stream_->async_read_some(buffer->bytes, [link = link_, weak = std::weak_ptr(user), buffer, into](
                                              std::error_code error, std::size_t size) {
    if (buffer->is_done.exchange(true)) return;
    LIFERING_CHECK(size <= buffer->bytes.size());
    link->post([weak, buffer, into, error, size] {
      const auto held = weak.lock();
      if (!held) return;
      std::copy_n(buffer->bytes.begin(), size, into.begin());
      held->arrived(!error && size == 0 ? asio::error::eof : error, size);
    });
  });
}

void transport_connection::write(std::span<const std::uint8_t> bytes,
                                 std::shared_ptr<connection_user> user) {
  const auto buffer = std::make_shared<operation_buffer>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), buffer->bytes.begin());
  stream_->async_write(buffer->bytes, [link = link_, weak = std::weak_ptr(user), buffer](
                                          std::error_code error, std::size_t size) {
    if (buffer->is_done.exchange(true)) return;
    link->post([weak, error, size] {
      if (const auto held = weak.lock()) held->written(error, size);
    });
  });
}

class transport_carrier final : public carrier,
                                private datagram_port,
                                private transport_link::owner {
 public:
  transport_carrier(std::shared_ptr<transport> given, surroundings with)
      : transport_(std::move(given)),
        with_(std::move(with)),
        link_(std::make_shared<transport_link>(with_.executor,
                                               static_cast<transport_link::owner&>(*this))) {}
  ~transport_carrier() override { end(); }

  std::optional<problem> open(const endpoint& bind);

  endpoint local() const override { return local_; }
  datagram_port& datagrams() noexcept override { return *this; }
  std::string describe() const override { return "a transport of the application"; }
  void close() override { end(); }

  std::unique_ptr<connection> make_connection(const endpoint& to, std::error_code& error) override {
    error.clear();
    return std::make_unique<transport_connection>(link_, transport_, to);
  }

  /// What came before was kept.
  void start() override {
    is_started_ = true;
    link_->post([this, link = link_] {
      if (link->is_open()) hear_early();
    });
  }

 private:
  // As datagram_port.
  void added(const endpoint&) override {}
  void flush() override;
  void receive_pending() override;

  // As the link's owner.
  void inbox_filled() override;
  void accepted(std::shared_ptr<transport_stream> made, const endpoint& from) override;

  void hear_early();
  bool has_more();
  void hand_out(const transport_inbox::item& item);
  void end();

  const std::shared_ptr<transport> transport_;
  surroundings with_;
  const std::shared_ptr<transport_link> link_;
  endpoint local_;
  bool is_open_ = false;
  bool is_started_ = false;
  transport_inbox taken_;
  std::size_t next_ = 0;        // Of taken_, the first item that wasn't handed out.
  std::size_t bytes_read_ = 0;  // And where its bytes begin.
  std::vector<std::pair<std::shared_ptr<transport_stream>, endpoint>> early_;
};

std::optional<problem> transport_carrier::open(const endpoint& bind) {
  if (auto found = transport_->open(bind, link_, local_)) return found;
  is_open_ = true;
  if (local_.port == 0 || check_advertised(local_)) {
    return problem{errc::invalid_address,
                   "The transport says that its address is " + local_.to_string() +
                       ", at which no peer could reach it; it must have one, with a port."};
  }
  return std::nullopt;
}

void transport_carrier::end() {
  if (!std::exchange(is_open_, false)) return link_->close();
  link_->close();
  drop_waiting();
  for (auto& [made, from] : std::exchange(early_, {}))
    made->close();
  transport_->close();
}

void transport_carrier::flush() {
  const outbox* const batch = waiting();
  if (batch == nullptr) return;
  // A failure may have more sent, which waits for the next turn of this loop.
  for (std::size_t i = 0; is_open_ && i < batch->list.size(); ++i) {
    const auto each = batch->list[i];
    const auto error = transport_->send(each.to, batch->bytes_of(each));
    if (!error) {
      ++with_.count.datagrams_sent;
      with_.count.bytes_sent += each.size;
      continue;
    }
    ++with_.count.send_errors;
    if (is_about_us(error)) with_.datagrams.datagram_failed(each.to, error);
  }
  drop_waiting();
  if (is_open_) transport_->flush();
}

void transport_carrier::hear_early() {
  inbox_filled();
  auto waiting = std::exchange(early_, {});
  for (auto& [made, from] : waiting) {
    if (is_open_) {
      accepted(std::move(made), from);
    } else {
      made->close();
    }
  }
}

void transport_carrier::inbox_filled() {
  if (!is_started_) return;
  receive_pending();
  if (!is_open_) return;
  with_.datagrams.batch_ended();
  if (!is_open_) return;
  if (!has_more()) return;
  link_->post([link = link_, this] {
    if (link->is_open()) inbox_filled();
  });
}

/// False: the next arrival will say so.
bool transport_carrier::has_more() {
  if (next_ < taken_.items.size()) return true;
  next_ = 0;
  bytes_read_ = 0;
  return link_->take(taken_);
}

void transport_carrier::receive_pending() {
  with_.count.dropped_no_room += link_->take_overflow();
  for (std::size_t i = 0; i < datagrams_per_turn && is_open_; ++i) {
    if (!has_more()) return;
    hand_out(taken_.items[next_++]);
  }
}

void transport_carrier::hand_out(const transport_inbox::item& item) {
  const std::span bytes(taken_.bytes.data() + bytes_read_, item.size);
  bytes_read_ += item.size;
  if (item.is_refusal) {
    ++with_.count.refused;
    return with_.datagrams.datagram_refused(item.peer);
  }
  ++with_.count.datagrams_received;
  with_.count.bytes_received += item.size;
  if (item.size > with_.datagram_max) {
    ++with_.count.dropped_too_large;
  } else {
    with_.datagrams.datagram_received(item.peer, bytes);
  }
}

void transport_carrier::accepted(std::shared_ptr<transport_stream> made, const endpoint& from) {
  if (!is_started_) {
    early_.emplace_back(std::move(made), from);
    return;
  }
  with_.accepted(std::make_unique<transport_connection>(link_, std::move(made)), from);
}

}  // namespace

std::optional<problem> open_transport(std::shared_ptr<transport> given, const endpoint& bind,
                                      carrier::surroundings with, std::unique_ptr<carrier>& out) {
  auto made = std::make_unique<transport_carrier>(std::move(given), std::move(with));
  if (auto found = made->open(bind)) return found;
  out = std::move(made);
  return std::nullopt;
}

}  // namespace lifering::net
