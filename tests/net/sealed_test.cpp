// Members that seal: who is heard, who must prove first that it lives, and what is not forgotten
// while keys and modes change.
#include <asio/ip/tcp.hpp>
#include <asio/ip/udp.hpp>
#include <asio/write.hpp>
#include <lifering/error.hpp>

#include "net/address.hpp"
#include "net/driver.hpp"
#include "net/listening.hpp"
#include "net/peer.hpp"
#include "support/catch.hpp"
#include "wire/codec.hpp"

namespace lifering::net {
namespace {

using test::peer;
using test::quick_options;
using test::run_until;

wire::key_ptr key_of(std::uint8_t byte) {
  std::array<std::uint8_t, wire::secret_key::size> bytes{};
  bytes.fill(byte);
  return wire::secret_key::from_bytes(bytes);
}

std::shared_ptr<wire::keyring> ring_of(seal_mode mode, std::vector<std::uint8_t> bytes) {
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
  std::vector<std::shared_ptr<wire::keyring>> rings;
  std::vector<std::unique_ptr<peer>> members;
};

/// Datagrams of our own making, from a socket of our own.
class forger {
 public:
  forger(asio::io_context& context, std::shared_ptr<const wire::keyring> keys)
      : socket_(context, asio::ip::udp::endpoint(asio::ip::address_v4::loopback(), 0)),
        codec_("test", std::move(keys)) {
    socket_.non_blocking(true);
  }

  std::vector<std::uint8_t> ping_of(const std::string& name, std::uint64_t epoch, peer& target,
                                    const wire::proof& with = {}) {
    swim::packet packet;
    packet.from.name = name;
    packet.from.epoch = epoch;
    packet.from.view_digest = 77;
    packet.from.ring_fingerprint = 78;
    packet.body = swim::ping{1, target.name(), target.driver().protocol().self()->epoch};
    // News that can be seen to have been taken.
    swim::record invented;
    invented.name = "invented";
    invented.epoch = 7;
    invented.incarnation = 1;
    invented.address = *endpoint::parse("127.0.0.1:9");
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
    swim::packet packet;
    packet.from.name = name;
    packet.from.epoch = epoch;
    std::vector<std::uint8_t> bytes;
    codec_.encode(packet, bytes, {0, echo});
    return bytes;
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

  void send(peer& to, const std::vector<std::uint8_t>& bytes) {
    socket_.send_to(asio::buffer(bytes),
                    to_asio<asio::ip::udp>(to.driver().local_address(), false));
  }

  /// What has come, decoded; its size too.
  std::optional<swim::packet> receive(wire::receipt& receipt, std::size_t& size) {
    std::array<std::uint8_t, 2000> buffer{};
    std::error_code error;
    asio::ip::udp::endpoint from;
    size = socket_.receive_from(asio::buffer(buffer), from, 0, error);
    if (error) return std::nullopt;
    swim::packet packet;
    if (codec_.decode({buffer.data(), size}, packet) != wire::decode_error::none) {
      return std::nullopt;
    }
    receipt = codec_.last_receipt();
    return packet;
  }

  endpoint address() const { return from_asio(socket_.local_endpoint()); }

 private:
  asio::ip::udp::socket socket_;
  wire::codec codec_;
};

TEST_CASE(
    "Members that require the seal come to see each other, prove themselves, and see who dies",
    "[seal]") {
  sealed_group all;
  for (int i = 0; i < 4; ++i)
    all.add_joined(seal_mode::require);
  REQUIRE(all.all_see(4));
  REQUIRE(all.live_for(10));
  CHECK(all.count_events(event_kind::suspected) == 0);
  for (const auto& each : all.members) {
    CHECK(each->driver().count().dropped_not_sealed == 0);
    CHECK(each->driver().count().dropped_cannot_open == 0);
    CHECK(each->driver().protocol().local_health() == 0);
  }
  all.members[3]->kill();
  all.members.pop_back();
  for (const auto& each : all.members)
    CHECK(each->hears(event_kind::failed, "member-3"));
}

TEST_CASE("A reliable message crosses a sealed stream", "[seal]") {
  sealed_group all;
  all.add_joined(seal_mode::require);
  all.add_joined(seal_mode::require);
  REQUIRE(all.all_see(2));
  const std::string large(300'000, 'x');
  const auto* done = all.members[0]->completion(all.members[0]->send("member-1", large, true));
  REQUIRE(done);
  CHECK_FALSE(done->error);
  REQUIRE(all.members[1]->messages.size() == 1);
  CHECK(all.members[1]->messages[0].second == large);
}

TEST_CASE("From off through accept to require and back, member by member, nobody is lost",
          "[seal]") {
  sealed_group all;
  for (int i = 0; i < 4; ++i)
    all.add_joined(seal_mode::off);
  REQUIRE(all.all_see(4));
  for (const auto mode :
       {seal_mode::accept, seal_mode::require, seal_mode::accept, seal_mode::off}) {
    for (const auto& ring : all.rings) {
      REQUIRE_FALSE(ring->set_mode(mode));
      REQUIRE(all.live_for(2));
    }
    REQUIRE(all.all_see(4));
  }
  CHECK(all.count_events(event_kind::failed) == 0);
  CHECK(all.count_events(event_kind::suspected) == 0);
}

TEST_CASE("A member in one mode joins through one in a neighbouring mode", "[seal]") {
  using pair = std::pair<seal_mode, seal_mode>;
  const auto modes = GENERATE(values<pair>({{seal_mode::off, seal_mode::accept},
                                            {seal_mode::accept, seal_mode::off},
                                            {seal_mode::accept, seal_mode::require},
                                            {seal_mode::require, seal_mode::accept}}));
  sealed_group all;
  peer& seed = all.add(modes.first);
  peer& joiner = all.add(modes.second);
  const auto* done = joiner.completion(joiner.join({seed.address()}));
  REQUIRE(done);
  CHECK_FALSE(done->error);
  CHECK(all.all_see(2));
  REQUIRE(all.live_for(5));
  CHECK(all.count_events(event_kind::failed) == 0);
}

TEST_CASE("A member with another key is refused and counted, and told why", "[seal]") {
  sealed_group all;
  peer& seed = all.add(seal_mode::require, {1});
  peer& wrong = all.add(GENERATE(seal_mode::require, seal_mode::accept), {2});
  const auto* done = wrong.completion(wrong.join({seed.address()}));
  REQUIRE(done);
  CHECK(done->error == errc::wrong_key);
  CHECK_THAT(done->detail, Catch::Contains(std::error_code(errc::wrong_key).message()));
  CHECK(seed.driver().count().dropped_cannot_open > 0);
  CHECK(seed.present() == 1);
  CHECK(wrong.present() == 1);
}

TEST_CASE("A member without any key is refused where the seal is required, and told why",
          "[seal]") {
  sealed_group all;
  peer& seed = all.add(seal_mode::require, {1});
  peer plain(all.context, "plain");
  const auto* done = plain.completion(plain.join({seed.address()}));
  REQUIRE(done);
  CHECK(done->error == errc::wrong_key);
  CHECK_THAT(done->detail, Catch::Contains(std::error_code(errc::wrong_key).message()));
  CHECK(seed.driver().count().dropped_not_sealed > 0);
  CHECK(seed.present() == 1);
}

TEST_CASE("Keys are rotated again and again while members talk, and nothing is dropped", "[seal]") {
  sealed_group all;
  for (int i = 0; i < 3; ++i)
    all.add_joined(seal_mode::require);
  REQUIRE(all.all_see(3));
  for (std::uint8_t next = 2; next < 8; ++next) {
    const auto old_id = key_of(static_cast<std::uint8_t>(next - 1))->id();
    for (const auto& ring : all.rings)
      REQUIRE_FALSE(ring->add(key_of(next)));
    for (const auto& ring : all.rings) {
      REQUIRE_FALSE(ring->use(key_of(next)->id()));
      REQUIRE(all.live_for(1));
    }
    // What the old key sealed must have arrived.
    REQUIRE(all.live_for(1));
    for (const auto& ring : all.rings)
      REQUIRE_FALSE(ring->remove(old_id));
  }
  CHECK(all.count_events(event_kind::suspected) == 0);
  for (const auto& each : all.members)
    CHECK(each->driver().count().dropped_cannot_open == 0);
}

TEST_CASE("A life that is not known changes nothing before it has echoed a fresh number",
          "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::require);
  forger stranger(all.context, all.rings[0]);
  wire::receipt receipt;
  std::size_t size = 0;
  const auto answer = [&] {
    std::optional<swim::packet> got;
    run_until(all.context, [&] { return (got = stranger.receive(receipt, size)).has_value(); });
    return got;
  };

  const auto asked = stranger.ping_of("stranger", 9, ours);
  stranger.send(ours, asked);
  auto got = answer();
  REQUIRE(got);
  CHECK(std::holds_alternative<std::monostate>(got->body));  // Not answered, but challenged,
  const auto challenge = receipt.proof.challenge;
  REQUIRE(challenge != 0);
  CHECK(size <= asked.size());  // and with no more bytes than it sent.
  CHECK(ours.driver().count().dropped_unproven == 1);
  CHECK(ours.present() == 1);

  SECTION("the echo makes it heard") {
    stranger.send(ours, stranger.echo_of("stranger", 9, challenge));
    stranger.send(ours, stranger.ping_of("stranger", 9, ours));
    got = answer();
    REQUIRE(got);
    CHECK(std::holds_alternative<swim::ack>(got->body));
    CHECK(ours.driver().count().dropped_unproven == 1);
    CHECK(ours.present() == 2);  // Now its news counts.

    // What it sent before its proof is not taken any more.
    stranger.send(ours, asked);
    CHECK(run_until(all.context, [&] { return ours.driver().count().dropped_repeated == 1; }));
  }
  SECTION("what it says beside the echo counts, and is told to who asks for an echo of ours") {
    stranger.send(ours, stranger.ping_of("stranger", 9, ours, {0, challenge}));
    got = answer();
    REQUIRE(got);
    CHECK(std::holds_alternative<swim::ack>(got->body));
    CHECK(ours.present() == 2);

    for (const std::size_t room : {std::size_t{130}, std::size_t{1000}}) {
      const auto dare = stranger.challenge_of("another", 9, 4711, room);
      stranger.send(ours, dare);
      got = answer();
      REQUIRE(got);
      CHECK(receipt.proof.echo == 4711);
      CHECK(size <= dare.size());
      const bool tells = std::any_of(got->updates.begin(), got->updates.end(),
                                     [](const auto& u) { return u.subject_name() == "invented"; });
      CHECK(tells == (room == 1000));
    }
  }
  SECTION("another number doesn't") {
    stranger.send(ours, stranger.echo_of("stranger", 9, challenge + 1));
    stranger.send(ours, stranger.ping_of("stranger", 9, ours));
    got = answer();
    REQUIRE(got);
    CHECK(receipt.proof.challenge != 0);
    CHECK(ours.driver().count().dropped_unproven == 2);
  }
  SECTION("nor does it make another life heard") {
    stranger.send(ours, stranger.echo_of("stranger", 9, challenge));
    stranger.send(ours, stranger.ping_of("stranger", 10, ours));
    got = answer();
    REQUIRE(got);
    CHECK(receipt.proof.challenge != 0);
    CHECK(ours.driver().count().dropped_unproven == 2);
  }
}

TEST_CASE("A member answers a challenge at once, with no more bytes than it came with", "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::require, {1}, std::string(200, 'n'));
  forger stranger(all.context, all.rings[0]);
  wire::receipt receipt;
  std::size_t size = 0;
  // Its own name is longer than ours, so a short challenge could not be answered within its size.
  const auto small = stranger.ping_of("s", 9, ours, {4711, 0});
  stranger.send(ours, small);
  std::optional<swim::packet> got;
  REQUIRE(
      run_until(all.context, [&] { return (got = stranger.receive(receipt, size)).has_value(); }));
  CHECK(receipt.proof.echo == 4711);
  CHECK(receipt.proof.challenge != 0);
  CHECK(size <= small.size());

  swim::packet bare;
  bare.from.name = "s";
  bare.from.epoch = 10;
  wire::codec other("test", all.rings[0]);
  std::vector<std::uint8_t> tiny;
  other.encode(bare, tiny, {4712, 0});
  stranger.send(ours, tiny);
  CHECK(run_until(all.context, [&] { return ours.driver().count().replies_withheld == 1; }));
}

TEST_CASE("A packet of a known member that was recorded in its earlier life is worth nothing",
          "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::require);
  peer& theirs = all.add_joined(seal_mode::require);
  REQUIRE(all.all_see(2));
  REQUIRE(all.live_for(2));
  // As if recorded in a life before: another epoch of the same name, sealed with the right key.
  forger recorder(all.context, all.rings[0]);
  const auto old_epoch = theirs.driver().protocol().self()->epoch - 1;
  for (int i = 0; i < 5; ++i)
    recorder.send(ours, recorder.ping_of("member-1", old_epoch, ours));
  CHECK(run_until(all.context, [&] { return ours.driver().count().dropped_unproven >= 5; }));
  CHECK(ours.present() == 2);
  CHECK(all.count_events(event_kind::superseded) == 0);
  CHECK(all.count_events(event_kind::suspected) == 0);
}

TEST_CASE("The frame that refuses a stranger's stream is worth nothing as a datagram", "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::require);
  // A sealed frame that no key of ours opens.
  wire::codec junk("test", ring_of(seal_mode::require, {9}));
  swim::packet request;
  request.from.name = "stranger";
  request.from.epoch = 5;
  std::vector<std::uint8_t> bytes;
  junk.encode(request, bytes, {4711, 0});
  asio::ip::tcp::socket caller(all.context);
  caller.connect(to_asio<asio::ip::tcp>(ours.driver().local_address(), false));
  asio::write(caller, asio::buffer(bytes));
  std::vector<std::uint8_t> answer(2000);
  std::size_t size = 0;
  caller.async_read_some(asio::buffer(answer), [&](std::error_code, std::size_t n) { size = n; });
  REQUIRE(run_until(all.context, [&] { return size > 0; }));
  answer.resize(size);
  // Whoever holds the key sees that it is a proof alone, which changes nothing wherever it is
  // shown.
  wire::codec holder("test", all.rings[0]);
  swim::packet said;
  REQUIRE(holder.decode_frame(answer, said) == wire::decode_error::none);
  CHECK(holder.last_receipt().proof.echo != 0);
  CHECK(std::holds_alternative<std::monostate>(said.body));
}

TEST_CASE("A join between modes that don't meet fails for its true reason", "[seal]") {
  sealed_group all;
  const auto [ours, theirs] = GENERATE(std::pair{seal_mode::require, seal_mode::off},
                                       std::pair{seal_mode::off, seal_mode::accept});
  // The second pair differs in its keys besides.
  peer& seed = all.add(ours, {1});
  peer& joiner = all.add(theirs, {static_cast<std::uint8_t>(ours == seal_mode::off ? 2 : 1)});
  const auto id = joiner.join({seed.address()});
  const auto* done = joiner.completion(id);
  REQUIRE(done != nullptr);
  CHECK_THAT(done->detail, Catch::Contains(std::error_code(errc::wrong_key).message()));
}

TEST_CASE("Frames that were recorded on one sealed stream are refused on another", "[seal]") {
  sealed_group all;
  peer& ours = all.add(seal_mode::require);
  // Who opens a stream and sends frames without having echoed our number.
  wire::codec recorded("test", all.rings[0]);
  swim::packet request;
  request.from.name = "old";
  request.from.epoch = 5;
  request.body = swim::sync_request{true, false};
  std::vector<std::uint8_t> bytes;
  recorded.encode(request, bytes, {0, 12345});
  asio::ip::tcp::socket caller(all.context);
  caller.connect(to_asio<asio::ip::tcp>(ours.driver().local_address(), false));
  asio::write(caller, asio::buffer(bytes));
  CHECK(run_until(all.context, [&] { return ours.driver().count().dropped_unproven == 1; }));
  CHECK(ours.driver().protocol().stats().syncs_served == 0);
  CHECK(ours.present() == 1);
}

TEST_CASE("A member whose packets can't be opened any more stays for a while", "[seal]") {
  sealed_group all;
  peer& a = all.add_joined(seal_mode::require);
  peer& b = all.add_joined(seal_mode::require);
  REQUIRE(all.all_see(2));
  REQUIRE(all.live_for(3));
  // The mistake: each goes to a key that the other doesn't have.
  for (std::size_t i = 0; i < 2; ++i) {
    const auto next = static_cast<std::uint8_t>(10 + i);
    REQUIRE_FALSE(all.rings[i]->add(key_of(next)));
    REQUIRE_FALSE(all.rings[i]->use(key_of(next)->id()));
    REQUIRE_FALSE(all.rings[i]->remove(key_of(1)->id()));
  }
  REQUIRE(all.live_for(20));
  CHECK(a.driver().count().dropped_cannot_open > 0);
  CHECK(a.driver().count().presumed_acks > 0);
  CHECK_FALSE(a.heard(event_kind::failed, "member-1"));
  CHECK_FALSE(b.heard(event_kind::failed, "member-0"));
  // Mended in time: nothing has happened.
  REQUIRE_FALSE(all.rings[0]->add(key_of(11)));
  REQUIRE_FALSE(all.rings[1]->add(key_of(10)));
  REQUIRE(all.live_for(5));
  CHECK(all.count_events(event_kind::failed) == 0);
  CHECK(a.present() == 2);
  CHECK(b.present() == 2);
}

TEST_CASE("Datagrams keep their limit in every mode", "[seal]") {
  sealed_group all;
  for (int i = 0; i < 2; ++i)
    all.add(seal_mode::require);
  for (const auto& each : all.members) {
    const auto& settings = each->driver().protocol().settings();
    CHECK(settings.datagram_budget + 10 + std::string("test").size() + 49 ==
          settings.limits.datagram);
  }
}

}  // namespace
}  // namespace lifering::net
