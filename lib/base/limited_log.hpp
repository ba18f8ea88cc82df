// A logger for what strangers can cause: each kind of line comes a bounded number of times.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/time.hpp"

namespace lifering::base {

/// `Kind` is an enumeration that ends with `count_`. Of each kind the first line is written, and
/// after it one in every pause, which says how many were left out. A copy of what it is given; not
/// thread-safe.
template <class Kind>
class limited_log {
 public:
  static constexpr duration pause = std::chrono::seconds(10);

  explicit limited_log(logger to) : to_(std::move(to)) {}

  /// `make_line` makes the text, and is called only if the line is written.
  template <class MakeLine>
  void operator()(Kind kind, log_level level, time_point now, MakeLine make_line) {
    if (!to_.enabled(level)) return;
    row& known = rows_[static_cast<std::size_t>(kind)];
    if (known.was_written && now - known.last < pause) {
      ++known.left_out;
      return;
    }
    std::string line = make_line();
    if (known.left_out != 0) {
      line += " (and " + std::to_string(known.left_out) + " such lines since the last one)";
    }
    known = {true, now, 0};
    to_(level, line);
  }

 private:
  struct row {
    bool was_written = false;
    time_point last{};
    std::uint64_t left_out = 0;
  };

  logger to_;
  std::array<row, static_cast<std::size_t>(Kind::count_)> rows_{};
};

}  // namespace lifering::base
