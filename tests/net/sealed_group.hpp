// Members that seal, and packets of our own making beside theirs.
#pragma once

#include <algorithm>
#include <array>
#include <asio/ip/udp.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/address.hpp"
#include "net/driver.hpp"
#include "net/peer.hpp"
#include "support/catch.hpp"
#include "wire/codec.hpp"

namespace lifering::net::test {

inline wire::key_ptr key_of(std::uint8_t byte) {
  std::array<std::uint8_t, wire::secret_key::size> bytes{};
  bytes.fill(byte);
  return wire::secret_key::from_bytes(bytes);
}

inline std::shared_ptr<wire::keyring> ring_of(seal_mode mode, std::vector<std::uint8_t> bytes) {
  std::vector<wire::key_ptr> keys;
  for (const auto byte : bytes)
    keys.push_back(key_of(byte));
  return std::make_shared<wire::keyring>(mode, std::move(keys));
}

/// Members, each with a keyring of its own.
class sealed_group {
 public:
  peer& add(seal_mode mode, std::vector<std::uint8_t> keys = {1}, std::string name = {}) {
    if (name.empty()) name = "member-" + std::to_string(members.size());
    auto options = quick_options(name, "127.0.0.1:0");
    rings.push_back(ring_of(mode, std::move(keys)));
    options.keys = rings.back();
    options.protocol.placement = placement;
    members.push_back(std::make_unique<peer>(context, std::move(options)));
    REQUIRE_FALSE(members.back()->driver().open());
    members.back()->driver().start();
    return *members.back();
  }

  /// The same, joined through the first.
  peer& add_joined(seal_mode mode) {
    peer& added = add(mode);
    if (members.size() > 1) added.join({members.front()->address()});
    return added;
  }

  bool all_see(std::size_t count) {
    return run_until(context, [&] {
      return std::all_of(members.begin(), members.end(),
                         [count](const auto& each) { return each->present() == count; });
    });
  }

  std::uint64_t count_events(event_kind kind) const {
    std::uint64_t count = 0;
    for (const auto& each : members) {
      for (const auto& event : each->events)
        count += event.first == kind ? 1U : 0U;
    }
    return count;
  }

  /// Lets the cluster live on for so many probes of each member.
  bool live_for(std::uint64_t probes) {
    std::vector<std::uint64_t> goals;
    for (const auto& each : members)
      goals.push_back(each->driver().protocol().stats().probes + probes);
    return run_until(context, [&] {
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (members[i]->driver().protocol().stats().probes < goals[i]) return false;
      }
      return true;
    });
  }

  asio::io_context context;
  std::uint64_t placement = 0;  ///< Of members that are added from now on.
  std::vector<std::shared_ptr<wire::keyring>> rings;
  std::vector<std::unique_ptr<peer>> members;
};

/// Datagrams of our own making, from a socket of our own.
class forger {
 public:
  forger(asio::io_context& context, std::shared_ptr<const wire::keyring> keys)
      : context_(context),
        socket_(context, asio::ip::udp::endpoint(asio::ip::address_v4::loopback(), 0)),
        codec_("test", std::move(keys)) {
    socket_.non_blocking(true);
  }

  std::vector<std::uint8_t> ping_of(const std::string& name, std::uint64_t epoch, peer& target,
                                    const wire::proof& with = {},
                                    const endpoint& news_at = *endpoint::parse("127.0.0.1:9"),
                                    const std::string& news_of = "invented") {
    swim::packet packet;
    packet.from.name = name;
    packet.from.epoch = epoch;
    packet.from.view_digest = 77;
    packet.from.ring_fingerprint = 78;
    packet.body = swim::ping{1, target.name(), target.driver().protocol().self()->epoch};
    // News that can be seen to have been taken, and probed.
    swim::record invented;
    invented.name = news_of;
    invented.epoch = 7;
    invented.incarnation = 1;
    invented.address = news_at;
    swim::update news;
    news.kind = swim::update_kind::alive;
    news.name = invented.name;
    news.epoch = invented.epoch;
    news.incarnation = invented.incarnation;
    news.subject = std::make_shared<const swim::record>(invented);
    packet.updates.push_back(std::move(news));
    std::vector<std::uint8_t> bytes;
    codec_.encode(packet, bytes, with);
    return bytes;
  }

  std::vector<std::uint8_t> echo_of(const std::string& name, std::uint64_t epoch,
                                    std::uint64_t echo) {
    return proof_of(name, epoch, {0, echo});
  }

  std::vector<std::uint8_t> proof_of(const std::string& name, std::uint64_t epoch,
                                     const wire::proof& with) {
    return encode(name, epoch, {}, with);
  }

  std::vector<std::uint8_t> ack_of(const std::string& name, std::uint64_t epoch,
                                   std::uint64_t sequence) {
    return encode(name, epoch, swim::ack{sequence}, {});
  }

  std::vector<std::uint8_t> challenge_of(const std::string& name, std::uint64_t epoch,
                                         std::uint64_t challenge, std::size_t size) {
    swim::packet packet;
    packet.from.name = name;
    packet.from.epoch = epoch;
    std::vector<std::uint8_t> bytes;
    REQUIRE(codec_.encode_within(packet, {challenge, 0}, size, bytes));
    return bytes;
  }

  /// Takes the sender of such a packet for proven, so as to vouch for it.
  void trust(const std::vector<std::uint8_t>& datagram) {
    swim::packet packet;
    REQUIRE(codec_.decode(datagram, packet) == wire::decode_error::none);
    codec_.mark_proven(packet.from);
  }

  void send(peer& to, const std::vector<std::uint8_t>& bytes) {
    socket_.send_to(asio::buffer(bytes),
                    to_asio<asio::ip::udp>(to.driver().local_address(), false));
  }

  struct answer {
    swim::packet packet;
    wire::receipt receipt;
    std::size_t size = 0;
  };

  /// Waits for a packet that opens and is wanted.
  template <class Wanted>
  std::optional<answer> await(Wanted is_wanted) {
    std::optional<answer> got;
    const bool came = run_until(context_, [&] { return (got = receive()) && is_wanted(*got); });
    return came ? got : std::nullopt;
  }

  std::optional<answer> await() {
    return await([](const answer&) { return true; });
  }

  endpoint address() const { return from_asio(socket_.local_endpoint()); }

 private:
  std::optional<answer> receive() {
    std::array<std::uint8_t, 2000> buffer{};
    std::error_code error;
    asio::ip::udp::endpoint from;
    answer got;
    got.size = socket_.receive_from(asio::buffer(buffer), from, 0, error);
    if (error) return std::nullopt;
    if (codec_.decode({buffer.data(), got.size}, got.packet) != wire::decode_error::none) {
      return std::nullopt;
    }
    got.receipt = codec_.last_receipt();
    return got;
  }

  std::vector<std::uint8_t> encode(const std::string& name, std::uint64_t epoch,
                                   const swim::body& content, const wire::proof& with) {
    swim::packet packet;
    packet.from.name = name;
    packet.from.epoch = epoch;
    packet.body = content;
    std::vector<std::uint8_t> bytes;
    codec_.encode(packet, bytes, with);
    return bytes;
  }

  asio::io_context& context_;
  asio::ip::udp::socket socket_;
  wire::codec codec_;
};

inline bool has_ack(const forger::answer& got) {
  return std::holds_alternative<swim::ack>(got.packet.body);
}

}  // namespace lifering::net::test
