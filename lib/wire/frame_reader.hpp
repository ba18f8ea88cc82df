// Cuts the bytes of a stream into packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/decode_error.hpp"
#include "wire/envelope.hpp"
#include "wire/limits.hpp"

namespace lifering::wire {

/// Takes a stream's bytes in whatever pieces they come and hands out whole frames. It holds what
/// has arrived, never room for what a frame claims to be, and refuses an over-long frame as soon as
/// its first ten bytes are there. Not thread-safe.
///
///   reader.feed(arrived);
///   while (auto frame = reader.next(); !frame.empty()) decode(frame);
///   if (reader.error() != decode_error::none) close();
class frame_reader {
 public:
  /// `frame_max`: the largest frame taken, its envelope included; at most `packet_max`.
  explicit frame_reader(std::size_t frame_max = packet_max);

  /// Appends bytes that arrived. Ends the views that next() gave.
  void feed(bytes_view arrived);

  /// The next whole frame for codec::decode, or nothing while it isn't complete or after an error.
  /// The view holds until the next feed().
  bytes_view next();

  /// Why the stream can't go on, if it can't. Final: no later byte is looked at.
  decode_error error() const noexcept { return error_; }

  /// Bytes that arrived and were not handed out yet. A stream that ends with some was cut off.
  std::size_t buffered() const noexcept { return buffer_.size() - begin_; }

 private:
  std::size_t frame_max_;
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0;  // What is before was handed out.
  decode_error error_ = decode_error::none;
};

}  // namespace lifering::wire
