// Any bytes as a stream, in pieces: however it is cut, the same frames come out.
#include <algorithm>
#include <vector>

#include "fuzz/decoding.hpp"
#include "wire/frame_reader.hpp"

namespace lifering::fuzz {
namespace {

constexpr std::size_t frame_max = 4096;

struct outcome {
  std::vector<std::vector<std::uint8_t>> frames;
  wire::decode_error error = wire::decode_error::none;
  std::size_t left = 0;
  friend bool operator==(const outcome&, const outcome&) = default;
};

outcome read(bytes_view stream, std::size_t piece) {
  wire::frame_reader reader(frame_max);
  outcome result;
  while (!stream.empty()) {
    const auto size = std::min(piece, stream.size());
    reader.feed(stream.first(size));
    stream = stream.subspan(size);
    for (auto frame = reader.next(); !frame.empty(); frame = reader.next()) {
      LIFERING_CHECK(frame.size() <= frame_max);
      result.frames.emplace_back(frame.begin(), frame.end());
    }
    LIFERING_CHECK(reader.buffered() < frame_max);
  }
  result.error = reader.error();
  result.left = reader.buffered();
  return result;
}

}  // namespace

void run(bytes_view input) {
  if (input.empty()) return;
  static wire::codec with("golden");
  static swim::packet packet;
  const std::size_t piece = std::size_t{1} + input[0];  // The first byte says how it is cut.
  const auto stream = input.subspan(1);
  const auto result = read(stream, piece);
  LIFERING_CHECK(result == read(stream, stream.size()));
  for (const auto& frame : result.frames) {
    if (with.decode(frame, packet) == wire::decode_error::none) check_accepted(with, packet);
  }
}

}  // namespace lifering::fuzz
