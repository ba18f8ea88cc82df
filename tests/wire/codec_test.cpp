// Packets to bytes and back: nothing is lost, nothing else is accepted, no size is exceeded.
#include "wire/codec.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "support/catch.hpp"
#include "wire/random_packet.hpp"

using lifering::base::rng;
using lifering::wire::bytes_view;
using lifering::wire::codec;
using lifering::wire::decode_error;
using lifering::wire::testing::as_received;
using lifering::wire::testing::extent;
using lifering::wire::testing::random_packet;
namespace swim = lifering::swim;
namespace wire = lifering::wire;

namespace {

std::vector<std::uint8_t> encoded(codec& with, const swim::packet& packet) {
  std::vector<std::uint8_t> out;
  with.encode(packet, out);
  return out;
}

swim::packet ping_from(std::string name) {
  swim::packet made;
  made.from = {std::move(name), 70'000, 3, 1, 2, 3, 5};
  made.body = swim::ping{17, "target", 65'536};
  return made;
}

}  // namespace

TEST_CASE("A packet is what it was after a round trip, and never larger than its bound", "[wire]") {
  const auto size = GENERATE(extent::small, extent::hostile);
  const int packets = size == extent::small ? 20'000 : 400;
  codec sender("cluster");
  codec receiver("cluster");
  swim::packet received;  // One for all, so that leftovers of the last packet would show.
  rng random(2024);
  for (int i = 0; i < packets; ++i) {
    const auto sent = random_packet(random, size);
    const auto bytes = encoded(sender, sent);
    INFO("packet " << i << ", " << bytes.size() << " bytes");
    REQUIRE(bytes.size() <= sender.overhead() + swim::size_bound(sent));
    REQUIRE(receiver.decode(bytes, received) == decode_error::none);
    REQUIRE((received == as_received(sent)));
  }
}

TEST_CASE("The bounds of what gossip counts item by item are exact", "[wire]") {
  codec with("c");
  rng random(7);
  for (int i = 0; i < 3'000; ++i) {
    auto sent = random_packet(random, i % 10 == 0 ? extent::hostile : extent::small);
    auto bare = sent;
    bare.updates.clear();
    bare.broadcasts.clear();
    std::size_t bound = 0;
    for (const auto& item : sent.updates)
      bound += swim::size_bound(item);
    for (const auto& item : sent.broadcasts)
      bound += swim::size_bound(item);
    REQUIRE(encoded(with, sent).size() - encoded(with, bare).size() == bound);
  }
}

TEST_CASE("Every truncation of a packet is refused", "[wire]") {
  codec with("cluster");
  swim::packet received;
  rng random(1);
  for (int i = 0; i < 50; ++i) {
    const auto bytes = encoded(with, random_packet(random, extent::small));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      REQUIRE(with.decode(bytes_view(bytes).first(size), received) == decode_error::truncated);
    }
  }
}

TEST_CASE("Every byte after a packet is refused", "[wire]") {
  codec with("cluster");
  swim::packet received;
  rng random(2);
  for (int i = 0; i < 20; ++i) {
    auto bytes = encoded(with, random_packet(random, extent::small));
    bytes.push_back(0);
    for (int last = 0; last < 256; ++last) {
      bytes.back() = static_cast<std::uint8_t>(last);
      REQUIRE(with.decode(bytes, received) == decode_error::trailing_bytes);
    }
  }
}

TEST_CASE("No flipped bit does harm, and one in the header is always noticed", "[wire]") {
  codec with("cluster");
  swim::packet received;
  swim::packet again;
  rng random(3);
  const std::size_t header = with.overhead();
  for (int i = 0; i < 100; ++i) {
    auto bytes = encoded(with, random_packet(random, extent::small));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      const auto mask = static_cast<std::uint8_t>(1U << (bit % 8));
      bytes[bit / 8] ^= mask;
      const auto error = with.decode(bytes, received);
      // A higher version alone isn't an error: it says that older readers will do.
      if (bit / 8 < header && bit / 8 != 2) REQUIRE(error != decode_error::none);
      if (error == decode_error::none) {
        // What was accepted can be sent on and means the same there.
        REQUIRE(with.decode(encoded(with, received), again) == decode_error::none);
        REQUIRE((again == received));
      }
      bytes[bit / 8] ^= mask;
    }
  }
}

TEST_CASE("Bytes that aren't ours are told from foreign clusters and versions", "[wire]") {
  codec ours("cluster");
  codec theirs("clusteR");
  swim::packet received;
  auto bytes = encoded(ours, ping_from("a"));

  CHECK(theirs.decode(bytes, received) == decode_error::wrong_cluster);
  CHECK(wire::peek_cluster_id(bytes) == "cluster");
  bytes[3] = wire::protocol_version + 1;  // Needs a newer reader.
  bytes[2] = wire::protocol_version + 1;
  CHECK(ours.decode(bytes, received) == decode_error::wrong_version);
  bytes[0] = 'x';
  CHECK(ours.decode(bytes, received) == decode_error::not_ours);
  CHECK(wire::peek_cluster_id(bytes).empty());
  CHECK(ours.decode({}, received) == decode_error::truncated);
}

TEST_CASE("A cluster id of 1 and of 64 bytes serves, and overhead() counts it", "[wire]") {
  const auto id = std::string(GENERATE(1U, 64U), 'i');
  codec with(id);
  swim::packet received;
  const auto bytes = encoded(with, ping_from("a"));
  CHECK(with.overhead() == 10 + id.size());
  CHECK(with.decode(bytes, received) == decode_error::none);
  CHECK((received == ping_from("a")));
}

TEST_CASE("Encoding appends to what is there", "[wire]") {
  codec with("c");
  std::vector<std::uint8_t> out{1, 2, 3};
  with.encode(ping_from("a"), out);
  CHECK(std::vector<std::uint8_t>(out.begin(), out.begin() + 3) ==
        std::vector<std::uint8_t>{1, 2, 3});
  swim::packet received;
  CHECK(with.decode(bytes_view(out).subspan(3), received) == decode_error::none);
}
