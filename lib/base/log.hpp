// Logging of the shell: a sink with a level, handed down explicitly. The pure floors don't log;
// they count and report effects.
#pragma once

#include <lifering/options.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace lifering::base {

/// Writes lines to stderr through spdlog, with time, level and `name`. Every call makes a sink of
/// its own; nothing is registered globally.
log_sink stderr_sink(const std::string& name);

/// A sink and a threshold. Each call makes one line, whatever bytes a stranger has put into it.
/// Copies share the sink. Calls on one sink must not overlap: the shell logs from its strand only.
class logger {
 public:
  logger() = default;
  logger(log_sink sink, log_level threshold) : sink_(std::move(sink)), threshold_(threshold) {}

  bool enabled(log_level level) const noexcept { return sink_ && level >= threshold_; }

  void operator()(log_level level, std::string_view line) const {
    if (!enabled(level)) return;
    try {
      sink_(level, in_one_line(line));
    } catch (...) {  // The line is lost. Where could it be said?
    }
  }

 private:
  log_sink sink_;
  log_level threshold_ = log_level::off;
};

}  // namespace lifering::base
