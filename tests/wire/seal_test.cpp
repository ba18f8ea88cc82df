// Sealed packets: what is sent, what is taken, and from when to when.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "support/catch.hpp"
#include "wire/challenger.hpp"
#include "wire/codec.hpp"
#include "wire/keys.hpp"
#include "wire/random_packet.hpp"
#include "wire/seal.hpp"
#include "wire/vouchers.hpp"

using lifering::endpoint;
using lifering::base::rng;
using lifering::wire::bytes_view;
using lifering::wire::challenger;
using lifering::wire::codec;
using lifering::wire::decode_error;
using lifering::wire::keyring;
using lifering::wire::seal_mode;
using lifering::wire::testing::as_received;
using lifering::wire::testing::extent;
using lifering::wire::testing::random_packet;
using lifering::wire::testing::test_key;
namespace swim = lifering::swim;
namespace wire = lifering::wire;

namespace {

using bytes = std::vector<std::uint8_t>;

bytes encoded(codec& with, const swim::packet& packet) {
  bytes out;
  with.encode(packet, out);
  return out;
}

swim::packet ping_from(std::string name, std::uint64_t epoch = 1) {
  swim::packet made;
  made.from.name = std::move(name);
  made.from.epoch = epoch;
  made.body = swim::ping{17, "target", 65'536};
  return made;
}

/// A node with keys of these bytes, the first of which seals.
struct node {
  std::shared_ptr<keyring> keys;
  codec with;

  explicit node(seal_mode mode, const std::vector<std::uint8_t>& key_bytes)
      : keys(make(mode, key_bytes)), with("cluster", keys) {}

  static std::shared_ptr<keyring> make(seal_mode mode, const std::vector<std::uint8_t>& key_bytes) {
    std::vector<wire::key_ptr> held;
    for (const auto byte : key_bytes)
      held.push_back(test_key(byte));
    return std::make_shared<keyring>(mode, held);
  }

  decode_error takes_from(node& sender) {
    swim::packet received;
    return with.decode(encoded(sender.with, ping_from("a")), received);
  }
};

bool contains(const bytes& where, std::string_view what) {
  return std::search(where.begin(), where.end(), what.begin(), what.end()) != where.end();
}

}  // namespace

TEST_CASE("A sealed packet is what it was, hides its content and keeps its bound", "[wire][seal]") {
  node sender(seal_mode::require, {1});
  node receiver(seal_mode::require, {1});
  swim::packet received;
  rng random(11);
  for (int i = 0; i < 2'000; ++i) {
    auto sent = random_packet(random, i % 50 == 0 ? extent::hostile : extent::small);
    sent.from.name = "the name of the sender";
    const auto out = encoded(sender.with, sent);
    REQUIRE(out.size() <= sender.with.overhead() + swim::size_bound(sent));
    REQUIRE_FALSE(contains(out, sent.from.name));
    sent.from.epoch = static_cast<std::uint64_t>(i);  // Each from a life of its own.
    REQUIRE(receiver.with.decode(encoded(sender.with, sent), received) == decode_error::none);
    REQUIRE((received == as_received(sent)));
    REQUIRE(receiver.with.last_receipt().sealed);
  }
}

TEST_CASE("With a keyring the overhead leaves room for the seal and for vouchers in every mode",
          "[wire][seal]") {
  node one(seal_mode::off, {1});
  const std::size_t header = 10 + std::string("cluster").size();
  CHECK(one.with.overhead() == header + 24 + 16 + 9 + wire::vouchers_size_max);
  CHECK_FALSE(one.with.seals());
  REQUIRE_FALSE(one.keys->set_mode(seal_mode::accept));
  CHECK(one.with.overhead() == header + 24 + 16 + 9 + wire::vouchers_size_max);
  CHECK(one.with.seals());
  CHECK(codec("cluster").overhead() == header);
  CHECK_FALSE(codec("cluster").seals());
}

TEST_CASE("No bit of a sealed packet can be changed, none be cut off and none added",
          "[wire][seal]") {
  node sender(seal_mode::require, {1});
  node receiver(seal_mode::require, {1});
  swim::packet received;
  auto out = encoded(sender.with, ping_from("a"));
  for (std::size_t bit = 0; bit < out.size() * 8; ++bit) {
    const auto mask = static_cast<std::uint8_t>(1U << (bit % 8));
    out[bit / 8] ^= mask;
    REQUIRE(receiver.with.decode(out, received) != decode_error::none);
    out[bit / 8] ^= mask;
  }
  for (std::size_t size = 0; size < out.size(); ++size) {
    REQUIRE(receiver.with.decode(bytes_view(out).first(size), received) != decode_error::none);
  }
  out.push_back(0);
  REQUIRE(receiver.with.decode(out, received) == decode_error::trailing_bytes);
  out.pop_back();
  CHECK(receiver.with.decode(out, received) == decode_error::none);
}

TEST_CASE("The header is authenticated: a higher version can't be put on a sealed packet",
          "[wire][seal]") {
  node sender(seal_mode::accept, {1});
  node receiver(seal_mode::accept, {1});
  swim::packet received;
  auto out = encoded(sender.with, ping_from("a"));
  out[2] = 200;  // Readable still, were it not for the seal.
  CHECK(receiver.with.decode(out, received) == decode_error::cannot_open);
}

TEST_CASE("Each mode takes what it says, and neighbours understand each other", "[wire][seal]") {
  node plain(seal_mode::off, {});
  node off(seal_mode::off, {1});
  node accept(seal_mode::accept, {1});
  node require(seal_mode::require, {1});
  node stranger(seal_mode::require, {2});

  CHECK(off.takes_from(plain) == decode_error::none);
  CHECK(off.takes_from(accept) == decode_error::none);
  CHECK(accept.takes_from(off) == decode_error::none);
  CHECK(accept.takes_from(require) == decode_error::none);
  CHECK(require.takes_from(accept) == decode_error::none);
  CHECK(require.takes_from(off) == decode_error::not_sealed);
  CHECK(plain.takes_from(require) == decode_error::cannot_open);
  CHECK(require.takes_from(stranger) == decode_error::cannot_open);
  CHECK(off.takes_from(stranger) == decode_error::cannot_open);
}

TEST_CASE("A key is rotated without a packet lost: everywhere, then sealing, then gone",
          "[wire][seal]") {
  node a(seal_mode::require, {1});
  node b(seal_mode::require, {1});
  const auto both_ways = [&] {
    swim::packet received;
    CHECK(b.with.decode(encoded(a.with, ping_from("a")), received) == decode_error::none);
    CHECK(a.with.decode(encoded(b.with, ping_from("b")), received) == decode_error::none);
  };
  const auto old_id = test_key(1)->id();
  const auto new_id = test_key(2)->id();
  for (node* each : {&a, &b}) {
    REQUIRE_FALSE(each->keys->add(test_key(2)));
    both_ways();
  }
  for (node* each : {&a, &b}) {
    REQUIRE_FALSE(each->keys->use(new_id));
    both_ways();
  }
  for (node* each : {&a, &b}) {
    REQUIRE_FALSE(each->keys->remove(old_id));
    both_ways();
  }
}

TEST_CASE("A repeated packet is dropped, a late one within the window isn't", "[wire][seal]") {
  node sender(seal_mode::require, {1});
  node receiver(seal_mode::require, {1});
  swim::packet received;
  std::vector<bytes> sent;
  for (int i = 0; i < 5'000; ++i)
    sent.push_back(encoded(sender.with, ping_from("a")));

  CHECK(receiver.with.decode(sent[1], received) == decode_error::none);
  CHECK(receiver.with.last_receipt().first_of_life);
  CHECK(receiver.with.decode(sent[1], received) == decode_error::repeated);
  CHECK(receiver.with.decode(sent[0], received) == decode_error::none);
  CHECK_FALSE(receiver.with.last_receipt().first_of_life);
  CHECK(receiver.with.decode(sent[0], received) == decode_error::repeated);
  CHECK(receiver.with.decode(sent[4'999], received) == decode_error::none);
  CHECK(receiver.with.decode(sent[4'999 - 4'095], received) == decode_error::none);
  CHECK(receiver.with.decode(sent[4'999 - 4'096], received) == decode_error::repeated);
}

TEST_CASE("A restart under the same name begins its numbers anew", "[wire][seal]") {
  node receiver(seal_mode::require, {1});
  swim::packet received;
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) {
    node life(seal_mode::require, {1});
    const auto out = encoded(life.with, ping_from("a", epoch));
    CHECK(receiver.with.decode(out, received) == decode_error::none);
    CHECK(receiver.with.last_receipt().first_of_life);
    CHECK(receiver.with.decode(out, received) == decode_error::repeated);
  }
}

TEST_CASE("A packet that no key opens uses up no number", "[wire][seal]") {
  node sender(seal_mode::require, {1});
  node receiver(seal_mode::require, {2});
  swim::packet received;
  const auto out = encoded(sender.with, ping_from("a"));
  CHECK(receiver.with.decode(out, received) == decode_error::cannot_open);
  REQUIRE_FALSE(receiver.keys->add(test_key(1)));
  CHECK(receiver.with.decode(out, received) == decode_error::none);
}

TEST_CASE("A life is proven by the packet that says so, and what it sent before counts no more",
          "[wire][seal]") {
  node sender(seal_mode::require, {1});
  node receiver(seal_mode::require, {1});
  swim::packet received;
  std::vector<bytes> sent;
  for (int i = 0; i < 200; ++i)
    sent.push_back(encoded(sender.with, ping_from("a")));
  REQUIRE(receiver.with.decode(sent[3], received) == decode_error::none);
  CHECK_FALSE(receiver.with.last_receipt().proven);
  REQUIRE(receiver.with.decode(sent[100], received) == decode_error::none);
  receiver.with.mark_proven(received.from);
  CHECK(receiver.with.last_receipt().proven);
  for (const auto old : {0, 4, 63, 64, 99, 100}) {
    CHECK(receiver.with.decode(sent[static_cast<std::size_t>(old)], received) ==
          decode_error::repeated);
  }
  for (const auto later : {101, 127, 128, 199}) {
    REQUIRE(receiver.with.decode(sent[static_cast<std::size_t>(later)], received) ==
            decode_error::none);
    CHECK(receiver.with.last_receipt().proven);
  }
  // Another life of the name has its own to prove.
  REQUIRE(receiver.with.decode(encoded(sender.with, ping_from("a", 2)), received) ==
          decode_error::none);
  CHECK_FALSE(receiver.with.last_receipt().proven);
}

TEST_CASE("A challenge and its echo travel under the seal, with the number of their packet",
          "[wire][seal]") {
  node sender(seal_mode::require, {1});
  node receiver(seal_mode::require, {1});
  swim::packet received;
  bytes out;
  sender.with.encode(ping_from("a"), out, {0x1234'5678'9abc'def1, 77});
  REQUIRE(receiver.with.decode_frame(out, received) == decode_error::none);
  CHECK(receiver.with.last_receipt().proof.challenge == 0x1234'5678'9abc'def1);
  CHECK(receiver.with.last_receipt().proof.echo == 77);
  CHECK(receiver.with.last_receipt().number == 1);
  // Frames are told apart by their stream.
  CHECK(receiver.with.decode_frame(out, received) == decode_error::none);
  REQUIRE(receiver.with.decode(encoded(sender.with, ping_from("a")), received) ==
          decode_error::none);
  CHECK(receiver.with.last_receipt().proof.challenge == 0);
  CHECK(receiver.with.last_receipt().proof.echo == 0);
}

TEST_CASE("What was sealed for a stream is no datagram, nor the other way round", "[wire][seal]") {
  node sender(seal_mode::require, {1});
  node receiver(seal_mode::require, {1});
  swim::packet received;
  const auto both = [&](const wire::proof& with, decode_error as_frame, decode_error as_datagram) {
    CAPTURE(with.challenge, with.echo);
    bytes out;
    sender.with.encode(ping_from("a"), out, with);
    CHECK(receiver.with.decode_frame(out, received) == as_frame);
    CHECK(receiver.with.decode(out, received) == as_datagram);
  };
  constexpr auto none = decode_error::none;
  constexpr auto repeated = decode_error::repeated;
  const challenger by;
  const auto stream = challenger::draw();
  const auto datagram = by.number_for("a", 1, *endpoint::parse("10.0.0.1:7946"), 10);
  both({stream, 0}, none, repeated);
  both({0, stream}, none, repeated);
  both({stream, stream}, none, repeated);
  both({datagram, 0}, repeated, none);
  both({0, datagram}, repeated, none);
  both({datagram, datagram}, repeated, none);
  both({stream, datagram}, repeated, repeated);
  both({datagram, stream}, repeated, repeated);
}

TEST_CASE("A packet is filled up to the size that it may have, and never beyond it",
          "[wire][seal]") {
  node sender(seal_mode::require, {1});
  node receiver(seal_mode::require, {1});
  swim::packet received;
  swim::packet bare;
  bare.from.name = "a";
  bare.from.epoch = 1;
  const auto smallest = encoded(sender.with, bare).size() + 9;  // With a challenge.
  for (std::size_t size = smallest - 3; size < smallest + 400; ++size) {
    bytes out;
    const bool fits = sender.with.encode_within(bare, {6, 0}, size, out);
    CAPTURE(size);
    REQUIRE(fits == (size >= smallest));
    REQUIRE(out.size() <= size);
    if (!fits) {
      REQUIRE(out.empty());
      continue;
    }
    REQUIRE(out.size() + 5 >= std::min(size, smallest + 400));
    REQUIRE(receiver.with.decode(out, received) == decode_error::none);
    REQUIRE((received == bare));
  }
}

TEST_CASE("No two nonces are alike", "[wire][seal]") {
  node sender(seal_mode::require, {1});
  std::vector<bytes> nonces;
  const std::size_t at = 10 + std::string("cluster").size();
  for (int i = 0; i < 1'000; ++i) {
    const auto out = encoded(sender.with, ping_from("a"));
    nonces.emplace_back(out.begin() + static_cast<std::ptrdiff_t>(at),
                        out.begin() + static_cast<std::ptrdiff_t>(at + wire::nonce_size));
  }
  std::sort(nonces.begin(), nonces.end());
  CHECK(std::adjacent_find(nonces.begin(), nonces.end()) == nonces.end());
}
