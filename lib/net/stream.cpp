#include "net/stream.hpp"

#include <asio/error.hpp>
#include <asio/post.hpp>
#include <lifering/error.hpp>
#include <utility>

#include "net/stream_set.hpp"
#include "net/system_error.hpp"

namespace lifering::net {
namespace {

/// The system's many words for "nobody answers there", as ours. Others stay what they are.
std::error_code translate(std::error_code error) {
  error = to_standard(error);
  if (error == std::errc::timed_out) return errc::timed_out;
  // Linux calls it an invalid argument when no route leads there from loopback, where we are bound.
  if (error == std::errc::invalid_argument || error == std::errc::connection_refused ||
      error == std::errc::host_unreachable || error == std::errc::network_unreachable ||
      error == std::errc::network_down || error == std::errc::address_family_not_supported) {
    return errc::unreachable;
  }
  return error;
}

}  // namespace

stream::stream(stream_set& owner, swim::stream_id id, std::unique_ptr<connection> by,
               const endpoint& source)
    : owner_(owner),
      id_(id),
      source_(source),
      connection_(std::move(by)),
      deadline_(owner.executor_) {}

void stream::set_deadline(base::duration from_now) {
  deadline_.expires_after(from_now);
  deadline_.async_wait(
      [self = shared_from_this(), token = owner_.pending_.begin()](std::error_code error) {
        if (!error) self->fail(errc::timed_out);
      });
}

void stream::connect() {
  connection_->connect(shared_from_this());
}

void stream::connected(std::error_code error) {
  if (phase_ == phase::over) return;
  if (error) return fail(error);
  ++owner_.count_.streams_opened;
  const auto self = shared_from_this();
  if (!released_) {
    owner_.handler_.stream_opened(id_);
    owner_.handler_.batch_ended();
  }
  start();
}

void stream::start() {
  if (phase_ == phase::over) return;
  phase_ = phase::open;
  read_some();
  send_queued();
}

void stream::fail_later(std::error_code error) {
  asio::post(owner_.executor_, [self = shared_from_this(), token = owner_.pending_.begin(), error] {
    self->fail(error);
  });
}

void stream::read_some() {
  connection_->read_some(chunk_, shared_from_this());
}

void stream::arrived(std::error_code error, std::size_t size) {
  if (phase_ == phase::over) return;
  owner_.count_.bytes_received += size;
  is_answered_ = is_answered_ || size > 0;
  if (!error && !released_) hand_out(size);
  if (phase_ == phase::over) return;
  if (!error) return read_some();
  if (error != asio::error::eof) return fail(error);
  peer_done_ = true;
  if (!released_) {
    // A peer that goes in the midst of a frame was cut off.
    return fail(reader_.buffered() == 0 ? std::error_code{}
                                        : std::error_code(asio::error::connection_reset));
  }
  if (finished_) end();
}

void stream::hand_out(std::size_t size) {
  reader_.feed({chunk_.data(), size});
  const auto is_heard = [this] { return phase_ != phase::over && !released_; };
  while (is_heard()) {
    const auto frame = reader_.next();
    if (frame.empty()) break;
    owner_.handler_.frame_received(id_, frame);
  }
  if (is_heard() && reader_.error() != wire::decode_error::none) {
    owner_.handler_.frame_refused(id_, reader_.error());
  }
  owner_.handler_.batch_ended();
}

void stream::send_queued() {
  if (phase_ != phase::open || writing_) return;
  if (queued_.empty()) return finish_sending();
  std::swap(queued_, in_flight_);
  writing_ = true;
  connection_->write(in_flight_, shared_from_this());
}

void stream::written(std::error_code error, std::size_t size) {
  if (phase_ == phase::over) return;
  writing_ = false;
  owner_.count_.bytes_sent += size;
  owner_.queued_ -= in_flight_.size();
  in_flight_.clear();
  if (error) return fail(error);
  send_queued();
}

void stream::finish_sending() {
  if (!released_ || finished_) return;
  finished_ = true;
  // Closing with the peer's bytes unread would reset the connection and could lose it what we just
  // sent, so the socket stays, and reads into nothing, until the peer has ended its side.
  connection_->end_sending();
  if (peer_done_) end();
}

void stream::fail(std::error_code error) {
  if (phase_ == phase::over) return;
  const auto self = shared_from_this();
  end();
  if (released_) return;
  // A peer that has no room closes at once. What we had sent by then makes a reset of that.
  const bool is_refusal =
      error == asio::error::connection_reset || error == asio::error::broken_pipe;
  if (is_refusal && !is_answered_ && !swim::is_accepted(id_)) error = {};
  if (error) ++owner_.count_.streams_failed;
  owner_.handler_.stream_ended(id_, translate(error));
  owner_.handler_.batch_ended();
}

void stream::release() {
  released_ = true;
  send_queued();
}

void stream::abort() {
  released_ = true;
  if (phase_ != phase::over) end();
}

void stream::end() {
  phase_ = phase::over;
  deadline_.cancel();
  if (connection_) connection_->close();
  owner_.queued_ -= queued_.size() + in_flight_.size();
  queued_.clear();
  if (swim::is_accepted(id_)) owner_.accepted_ended(source_);
  owner_.streams_.erase(id_);
}

}  // namespace lifering::net
