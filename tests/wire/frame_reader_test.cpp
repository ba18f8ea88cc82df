// Streams: whole frames come out however the bytes come in.
#include "wire/frame_reader.hpp"

#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "support/catch.hpp"
#include "wire/codec.hpp"
#include "wire/random_packet.hpp"
#include "wire/raw.hpp"

using lifering::base::rng;
using lifering::wire::bytes_view;
using lifering::wire::codec;
using lifering::wire::decode_error;
using lifering::wire::frame_reader;
using lifering::wire::testing::in_envelope;
namespace swim = lifering::swim;
namespace wire = lifering::wire;

namespace {

using bytes = std::vector<std::uint8_t>;

bytes to_bytes(bytes_view view) {
  return {view.begin(), view.end()};
}

/// Some frames, each for itself and as one stream.
struct stream {
  std::vector<bytes> frames;
  bytes all;

  explicit stream(std::uint64_t seed, int count) {
    codec with("cluster");
    rng random(seed);
    for (int i = 0; i < count; ++i) {
      bytes frame;
      with.encode(random_packet(random, wire::testing::extent::small), frame);
      all.insert(all.end(), frame.begin(), frame.end());
      frames.push_back(std::move(frame));
    }
  }
};

std::vector<bytes> take_all(frame_reader& reader) {
  std::vector<bytes> taken;
  for (auto frame = reader.next(); !frame.empty(); frame = reader.next()) {
    taken.push_back(to_bytes(frame));
  }
  return taken;
}

}  // namespace

TEST_CASE("Frames come out whole when bytes come one at a time", "[wire]") {
  const stream sent(1, 20);
  frame_reader reader;
  std::vector<bytes> taken;
  for (const auto byte : sent.all) {
    reader.feed(bytes_view(&byte, 1));
    for (auto& frame : take_all(reader))
      taken.push_back(std::move(frame));
  }
  CHECK(taken == sent.frames);
  CHECK(reader.error() == decode_error::none);
  CHECK(reader.buffered() == 0);
}

TEST_CASE("Many frames come out of one piece", "[wire]") {
  const stream sent(2, 100);
  frame_reader reader;
  reader.feed(sent.all);
  CHECK(take_all(reader) == sent.frames);
  CHECK(reader.buffered() == 0);
}

TEST_CASE("Frames come out whole from pieces of any size", "[wire]") {
  const stream sent(3, 50);
  rng random(4);
  for (int round = 0; round < 50; ++round) {
    frame_reader reader;
    std::vector<bytes> taken;
    for (bytes_view rest = sent.all; !rest.empty();) {
      const auto size = 1 + random.below(std::min<std::size_t>(rest.size(), 2'000));
      reader.feed(rest.first(size));
      rest = rest.subspan(size);
      for (auto& frame : take_all(reader))
        taken.push_back(std::move(frame));
    }
    REQUIRE(taken == sent.frames);
  }
}

TEST_CASE("A stream that is cut within a frame leaves bytes behind", "[wire]") {
  const stream sent(5, 2);
  frame_reader reader;
  reader.feed(bytes_view(sent.all).first(sent.all.size() - 1));
  CHECK(take_all(reader).size() == 1);
  CHECK(reader.error() == decode_error::none);
  CHECK(reader.buffered() == sent.frames.back().size() - 1);
}

TEST_CASE("An over-long frame is refused at its first ten bytes", "[wire]") {
  const std::size_t frame_max = 100;
  frame_reader reader(frame_max);
  const auto largest = in_envelope("c", std::string(frame_max - 11, 'x'));
  REQUIRE(largest.size() == frame_max);
  const auto too_large = in_envelope("c", std::string(frame_max - 10, 'x'));
  reader.feed(largest);
  CHECK(to_bytes(reader.next()) == largest);
  reader.feed(bytes_view(too_large).first(9));
  CHECK(reader.next().empty());
  CHECK(reader.error() == decode_error::none);
  reader.feed(bytes_view(too_large).subspan(9, 1));
  CHECK(reader.next().empty());
  CHECK(reader.error() == decode_error::over_limit);
}

TEST_CASE("A frame may claim 4 GiB and gets no room for it", "[wire]") {
  bytes claim = in_envelope("c", "");
  claim[6] = claim[7] = claim[8] = claim[9] = 0xff;
  frame_reader reader;
  reader.feed(claim);
  CHECK(reader.next().empty());
  CHECK(reader.error() == decode_error::over_limit);
  CHECK(reader.buffered() == 0);
}

TEST_CASE("A stranger's first byte ends a stream, and nothing after it is looked at", "[wire]") {
  frame_reader reader;
  const std::string request = "GET / HTTP/1.1\r\n";
  reader.feed(bytes_view(reinterpret_cast<const std::uint8_t*>(request.data()), 1));
  CHECK(reader.next().empty());
  CHECK(reader.error() == decode_error::not_ours);
  reader.feed(in_envelope("c", "x"));
  CHECK(reader.next().empty());
  CHECK(reader.error() == decode_error::not_ours);
  CHECK(reader.buffered() == 0);
}

TEST_CASE("A stream of a version that we can't read says so", "[wire]") {
  auto frame = in_envelope("c", "x");
  frame[2] = frame[3] = wire::protocol_version + 1;
  frame_reader reader;
  reader.feed(frame);
  CHECK(reader.next().empty());
  CHECK(reader.error() == decode_error::wrong_version);
}
