// What we asked of peers a moment ago. Whoever can't tell that we live drops it and asks for a
// proof first; the question then goes once more, with the proof, instead of waiting for its retry.
#pragma once

#include <chrono>
#include <cstddef>
#include <lifering/endpoint.hpp>
#include <list>
#include <optional>

#include "base/time.hpp"
#include "swim/message.hpp"

namespace lifering::net {

class recently_asked {
 public:
  /// Bodies that nobody answers for us, if they are lost, and that may well arrive twice: all but
  /// answers, mere news, and the application's messages. A challenge doesn't say which packet was
  /// dropped.
  static bool is_question(const swim::body& content) noexcept;

  /// A question goes to `to`.
  void add(const endpoint& to, const swim::body& content, base::time_point now);

  /// Gives back what nobody will ask for any more; for any moment at which there is time.
  void forget_old(base::time_point now);

  /// `by` wants a proof: the oldest question to it that may still be of use, once.
  std::optional<swim::body> take(const endpoint& by, base::time_point now);

 private:
  struct asked {
    endpoint to;
    base::time_point at{};
    swim::body content;
  };

  static constexpr std::chrono::seconds keep_time{1};  // Most are asked again by then.
  static constexpr std::size_t kept_max = 32;

  std::list<asked> last_;  // The newest at the end.
};

}  // namespace lifering::net
