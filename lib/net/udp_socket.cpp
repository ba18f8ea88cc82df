#include "net/udp_socket.hpp"

#include <algorithm>
#include <asio/error.hpp>
#include <asio/socket_base.hpp>

#include "net/address.hpp"
#include "net/system_error.hpp"

namespace lifering::net {
namespace {

/// Batches taken in one turn, so that a flood of datagrams can't keep timers and streams waiting.
constexpr int batches_per_turn = 8;

/// Reports taken in one turn, for the same reason.
constexpr int reports_per_turn = 64;

/// Calls for one datagram. A failed call may report an older datagram's fate, which costs nothing
/// but a try.
constexpr int tries_max = 3;

template <class Option>
int granted(io::udp_socket& socket, int wanted) {
  std::error_code ignored;
  socket.set_option(Option(wanted), ignored);
  Option option;
  socket.get_option(option, ignored);
  return option.value();
}

/// Of the system's buffer, what may be in use when strangers are sent something.
constexpr std::size_t strangers_part = 4;

bool is_blocked(const std::error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

}  // namespace

udp_socket::udp_socket(io::udp_socket bound, std::size_t datagram_max, operations& pending,
                       datagram_handler& handler, counters& count)
    : socket_(std::move(bound)),
      is_v6_(socket_.local_endpoint().address().is_v6()),
      datagram_max_(datagram_max),
      pending_(pending),
      handler_(handler),
      count_(count),
      receive_buffer_(granted<asio::socket_base::receive_buffer_size>(socket_, buffer_wanted)),
      send_buffer_(granted<asio::socket_base::send_buffer_size>(socket_, buffer_wanted)) {
  socket_.non_blocking(true);
  std::error_code ignored;  // Without reports silence is the only evidence, which is enough.
  enable_reports(socket_, ignored);
}

void udp_socket::added(const endpoint& to) {
  if (queued() > backlog_max) drop_newest(to);
}

void udp_socket::start() {
  wait_readable();
}

void udp_socket::close() {
  std::error_code ignored;
  socket_.close(ignored);
  start_anew();
}

void udp_socket::receive_pending() {
  if (!socket_.is_open()) return;
  // Nothing to read, so it was the reports that woke us, if anything did.
  if (!receive_some()) take_reports();
}

bool udp_socket::has_room_for_strangers() {
  return !waits_to_write_ &&
         held_by_system(socket_) < static_cast<std::size_t>(send_buffer_) / strangers_part;
}

void udp_socket::wait_readable() {
  socket_.async_wait(io::udp_socket::wait_read, [this, token = pending_.begin()](std::error_code) {
    if (!socket_.is_open()) return;
    receive_pending();
    handler_.batch_ended();
    if (socket_.is_open()) wait_readable();
  });
}

bool udp_socket::receive_some() {
  bool found = false;
  datagram_receiver receiver(datagram_max_);
  for (int turn = 0; turn < batches_per_turn && socket_.is_open(); ++turn) {
    std::error_code error;
    const auto batch = receiver.receive(socket_, error);
    if (is_blocked(error)) break;
    if (error) {  // That of an earlier packet, which the reports tell better.
      take_reports();
      continue;
    }
    found = found || !batch.empty();
    for (const auto& datagram : batch) {
      ++count_.datagrams_received;
      count_.bytes_received += datagram.bytes.size();
      if (datagram.truncated) {
        ++count_.dropped_too_large;
      } else {
        handler_.datagram_received(datagram.from, datagram.bytes);
      }
      if (!socket_.is_open()) return true;
    }
    if (batch.size() < datagram_receiver::batch_max()) break;  // There is no more.
  }
  return found;
}

void udp_socket::take_reports() {
  for (int i = 0; i < reports_per_turn && socket_.is_open(); ++i) {
    const auto report = next_report(socket_);
    if (!report) return;
    switch (report->what) {
      case network_report::kind::refused:
        ++count_.refused;
        handler_.datagram_refused(report->peer);
        break;
      case network_report::kind::unreachable:
        ++count_.unreachable;
        break;
      case network_report::kind::local:
        break;
    }
  }
}

void udp_socket::flush() {
  if (waits_to_write_) return;
  const outbox* const batch = waiting();
  if (batch == nullptr) return;
  datagram_sender sender;
  int tries = 0;
  while (sent_ < batch->list.size()) {
    std::error_code error;
    const auto taken = sender.send(socket_, is_v6_, *batch, sent_, error);
    for (const auto end = sent_ + taken; sent_ < end; ++sent_) {
      ++count_.datagrams_sent;
      count_.bytes_sent += batch->list[sent_].size;
      tries = 0;
    }
    if (!error) continue;
    if (is_blocked(error)) return wait_writable();
    if (error == asio::error::interrupted) continue;
    take_reports();
    if (!socket_.is_open()) return;
    if (++tries < tries_max) continue;
    skip_failed(endpoint(batch->list[sent_++].to), error);
    if (!socket_.is_open()) return;
    tries = 0;
  }
  start_anew();
}

void udp_socket::start_anew() {
  drop_waiting();
  sent_ = 0;
}

void udp_socket::skip_failed(const endpoint& to, std::error_code error) {
  ++count_.send_errors;
  error = to_standard(error);
  if (is_about_us(error)) handler_.datagram_failed(to, error);
}

void udp_socket::drop_newest(const endpoint& to) {
  outbox& batch = *waiting();
  batch.bytes.resize(batch.list.back().offset);
  batch.list.pop_back();
  ++count_.send_errors;
  handler_.datagram_failed(to, std::make_error_code(std::errc::no_buffer_space));
}

void udp_socket::wait_writable() {
  waits_to_write_ = true;
  socket_.async_wait(io::udp_socket::wait_write, [this, token = pending_.begin()](std::error_code) {
    waits_to_write_ = false;
    if (!socket_.is_open()) return;
    flush();
    handler_.batch_ended();
  });
}

}  // namespace lifering::net
