// What packets cost on the heap. A program of its own, since it counts every operator new.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "support/catch.hpp"
#include "wire/allocation_counter.hpp"
#include "wire/codec.hpp"
#include "wire/raw.hpp"

using lifering::wire::codec;
using lifering::wire::decode_error;
using lifering::wire::testing::allocated_bytes;
using lifering::wire::testing::allocations;
using namespace lifering::wire::testing;  // raw_*
namespace swim = lifering::swim;

namespace {

/// What two members say to each other all day.
std::vector<swim::packet> quiet_day(const std::string& name) {
  std::vector<swim::packet> packets(4);
  for (auto& packet : packets)
    packet.from = {name, 70'000, 3, 1, 2, 3, 5};
  packets[0].body = swim::ping{17, name, 65'536};
  packets[1].body = swim::ack{17};
  packets[2].body =
      swim::ping_request{18, name, 65'536, *lifering::endpoint::parse("[2001:db8::1]:5"), 9};
  packets[3].body = swim::nack{18};
  return packets;
}

swim::update failure(const std::string& name) {
  swim::update made;
  made.kind = swim::update_kind::failed;
  made.name = made.accuser = name;
  return made;
}

}  // namespace

TEST_CASE("A steady packet costs no heap allocation, however long its names are", "[wire]") {
  const auto name = std::string(GENERATE(5U, 15U, 16U, 60U, 255U), 'n');
  const bool with_news = GENERATE(false, true);
  if (with_news && name.size() > 60) return;  // No datagram of usual size any more.
  auto packets = quiet_day(name);
  for (auto& packet : packets) {
    if (with_news) packet.updates.assign(3, failure(name));
  }
  codec with("cluster");
  std::vector<std::uint8_t> out;
  swim::packet received;
  const auto exchange_all = [&] {
    for (const auto& packet : packets) {
      out.clear();
      with.encode(packet, out);
      LIFERING_CHECK(with.decode(out, received) == decode_error::none);
    }
  };
  exchange_all();  // Warm: buffers and strings get their size.
  exchange_all();
  allocations = 0;
  for (int i = 0; i < 1'000; ++i)
    exchange_all();
  const std::size_t counted = allocations;
  CHECK(counted == 0);
}

TEST_CASE("Nor does a datagram that is full of the shortest news", "[wire]") {
  auto packet = quiet_day("cache-1").front();
  while (swim::size_bound(packet) + swim::size_bound(failure("cache-12")) <= 1'350)
    packet.updates.push_back(failure("cache-12"));
  REQUIRE(packet.updates.size() > 30);
  codec with("cluster");
  std::vector<std::uint8_t> out;
  swim::packet received;
  for (int i = 0; i < 1'000; ++i) {
    if (i == 2) allocations = 0;
    out.clear();
    with.encode(packet, out);
    LIFERING_CHECK(with.decode(out, received) == decode_error::none);
  }
  const std::size_t counted = allocations;
  CHECK(counted == 0);
}

TEST_CASE("The counter counts", "[wire]") {
  allocations = 0;
  { const std::vector<int> one(1); }
  const std::size_t counted = allocations;
  CHECK(counted == 1);
}

TEST_CASE("Decoding allocates in proportion to what a packet holds", "[wire]") {
  // Empty items are the worst: two bytes of a packet make a whole object.
  const auto field = GENERATE(2U, 3U);  // updates, broadcasts
  const std::string sender = raw_bytes(1, raw_bytes(1, "sender"));
  for (const std::size_t count : {10U, 1'000U, 30'000U, 400'000U}) {
    std::string body = sender;
    for (std::size_t i = 0; i < count; ++i)
      body += raw_bytes(field, "");
    const auto packet = in_envelope("c", body);
    codec with("c");
    swim::packet received;
    allocated_bytes = 0;
    CHECK(with.decode(packet, received) != decode_error::none);
    const std::size_t counted = allocated_bytes;
    INFO(packet.size() << " bytes of packet, " << counted << " allocated");
    CHECK(counted <= 160 * packet.size());
  }
}

TEST_CASE("A packet that claims more than it holds allocates nothing", "[wire]") {
  codec with("c");
  swim::packet received;
  auto packet = in_envelope("c", raw_bytes(1, raw_bytes(1, "sender")));
  packet[7] = 0x0f;  // The envelope: nearly a megabyte.
  allocations = 0;
  auto error = with.decode(packet, received);
  std::size_t counted = allocations;
  CHECK(error == decode_error::truncated);
  CHECK(counted == 0);

  // Protobuf's own lengths: a name of 256 MiB.
  packet = in_envelope("c", raw_varint(1 << 3 | 2) + "\x08" + "\x0a\xff\xff\xff\x7f" + "abc");
  allocated_bytes = 0;
  error = with.decode(packet, received);
  counted = allocated_bytes;
  CHECK(error == decode_error::malformed_body);
  CHECK(counted < 1'000);
}

TEST_CASE("What a large packet took is given back", "[wire]") {
  codec with("c");
  swim::packet large;
  large.from.name = "sender";
  large.updates.assign(1'000, failure("somebody"));
  swim::packet received;
  std::vector<std::uint8_t> out;
  // If parts were kept, each exchange would use them again and allocate less than the first.
  with.encode(large, out);
  std::size_t counted[3] = {};
  for (auto& count : counted) {
    allocations = 0;
    LIFERING_CHECK(with.decode(out, received) == decode_error::none);
    count = allocations;
  }
  CHECK(counted[1] > 0);
  CHECK(counted[1] == counted[2]);
}
