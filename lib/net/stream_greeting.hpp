// How the two ends of a sealed stream prove to each other that they live now.
//
//   who opened it     challenge a                    "hello"
//   the other         challenge b, echo a
//   who opened it     echo b, and in each frame from then on
//   the other         echo a, likewise
//
// Frames that carry a challenge carry nothing else and stay inside of the shell. A frame that was
// recorded on another stream or at another time echoes another number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "swim/message.hpp"
#include "wire/codec.hpp"

namespace lifering::net {

/// One end's part of it.
class stream_greeting {
 public:
  enum class step : std::uint8_t {
    pass,    ///< The frame is for the machine.
    answer,  ///< A hello: answer with hello().
    opened,  ///< The peer has answered ours: what was held may go.
    refuse,  ///< Proves nothing: the stream must end.
  };

  /// For the end that opened the stream, whose hello is to be sent.
  static stream_greeting of_opener();
  /// For the other end.
  static stream_greeting of_acceptor() { return stream_greeting(false); }

  /// Looks at a frame that was decoded. Plain ones, which the mode of the moment takes, prove
  /// nothing and needn't.
  step take(const wire::receipt& frame);

  /// Whether what is to be sent must wait for the peer's answer.
  bool must_hold() const noexcept { return is_opener_ && !is_open_; }

  /// What the next frame carries: a hello, an answer or an echo.
  wire::proof hello() const noexcept { return {ours_, theirs_}; }
  wire::proof echo() const noexcept { return {0, theirs_}; }

  std::vector<swim::packet> held;  ///< To be sent when the peer has answered.
  std::size_t held_bytes = 0;      ///< Their sizes, or a little more.
  bool closing = false;            ///< To be closed after that.

 private:
  explicit stream_greeting(bool is_opener) : is_opener_(is_opener) {}

  bool is_opener_;
  bool is_open_ = false;
  std::uint64_t ours_ = 0;    // What the peer must echo; 0 before it is drawn.
  std::uint64_t theirs_ = 0;  // What we echo.
  std::uint64_t last_ = 0;    // The number of the last frame, which only rises.
};

}  // namespace lifering::net
