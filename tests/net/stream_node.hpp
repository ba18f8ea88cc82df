// A set of streams behind a listening port, for tests of such.
#pragma once

#include <asio/io_context.hpp>
#include <asio/strand.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/acceptor.hpp"
#include "net/listening.hpp"
#include "net/loop.hpp"
#include "net/stream_set.hpp"
#include "net/tcp_connection.hpp"
#include "support/catch.hpp"
#include "wire/envelope.hpp"

namespace lifering::net::test {

inline std::vector<std::uint8_t> frame_of(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  wire::append_header("test", false, text.size(), bytes);
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

/// Writes down what it is told.
class stream_node final : public stream_handler {
 public:
  explicit stream_node(asio::io_context& context, std::size_t streams_max = 16,
                       base::duration accepted_deadline = std::chrono::seconds(20),
                       std::size_t per_source_max = 1000)
      : context_(context), pending_(asio::make_strand(context)) {
    std::optional<listening_sockets> sockets;
    REQUIRE_FALSE(
        open_listening(asio::make_strand(context), *endpoint::parse("127.0.0.1:0"), sockets));
    address = sockets->local;
    connector_.emplace(asio::make_strand(context), address, pending_);
    streams.emplace(asio::make_strand(context),
                    stream_set::settings{streams_max, per_source_max, accepted_deadline},
                    *connector_, pending_, *this, count);
    acceptor_.emplace(std::move(sockets->tcp), pending_, count,
                      [this](std::unique_ptr<connection> made, const endpoint& from) {
                        streams->accept(std::move(made), from);
                      });
    acceptor_->start();
  }

  ~stream_node() {
    stop();
    run_until(context_, [this] { return pending_.count() == 0; });
  }

  void stop() {
    acceptor_->close();
    streams->stop();
  }

  void send(swim::stream_id id, std::string_view text) {
    const auto bytes = frame_of(text);
    streams->send(id, [&](std::vector<std::uint8_t>& out) {
      out.insert(out.end(), bytes.begin(), bytes.end());
    });
  }

  void stream_opened(swim::stream_id id) override { opened.push_back(id); }
  void stream_accepted(swim::stream_id id, const endpoint& from) override {
    accepted.push_back(id);
    callers.push_back(from);
  }
  void frame_received(swim::stream_id, std::span<const std::uint8_t> frame) override {
    wire::envelope content;
    REQUIRE(wire::read_envelope(frame, content) == wire::decode_error::none);
    frames.emplace_back(content.payload.begin(), content.payload.end());
    if (on_frame) on_frame();
  }
  void frame_refused(swim::stream_id id, wire::decode_error error) override {
    junk.push_back(error);
    streams->drop(id);
  }
  void stream_ended(swim::stream_id id, std::error_code error) override {
    ended.emplace_back(id, error);
  }
  bool is_members_source(const endpoint&) override { return callers_are_members; }
  void batch_ended() override {}

  counters count;
  endpoint address;
  std::optional<stream_set> streams;
  std::vector<swim::stream_id> opened;
  std::vector<swim::stream_id> accepted;
  std::vector<endpoint> callers;
  std::vector<std::string> frames;
  std::vector<wire::decode_error> junk;
  std::vector<std::pair<swim::stream_id, std::error_code>> ended;
  std::function<void()> on_frame;
  bool callers_are_members = true;

 private:
  asio::io_context& context_;
  operations pending_;
  std::optional<tcp_connector> connector_;
  std::optional<acceptor> acceptor_;
};

}  // namespace lifering::net::test
