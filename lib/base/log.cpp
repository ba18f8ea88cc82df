#include "base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

namespace lifering::base {
namespace {

spdlog::level::level_enum to_spdlog(log_level level) noexcept {
  switch (level) {
    case log_level::debug:
      return spdlog::level::debug;
    case log_level::info:
      return spdlog::level::info;
    case log_level::warning:
      return spdlog::level::warn;
    case log_level::error:
      return spdlog::level::err;
    case log_level::off:
      break;
  }
  return spdlog::level::off;
}

}  // namespace

log_sink stderr_sink(const std::string& name) {
  auto out = std::make_shared<spdlog::logger>(in_one_line(name),
                                              std::make_shared<spdlog::sinks::stderr_sink_mt>());
  out->set_level(spdlog::level::trace);
  out->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %n: %v");
  return [out](log_level level, std::string_view line) {
    out->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
  };
}

}  // namespace lifering::base
