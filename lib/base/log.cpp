#include "base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

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
  struct lazy {  // Most members have little to say.
    explicit lazy(std::string as) : name(std::move(as)) {}
    std::string name;
    std::once_flag once;
    std::optional<spdlog::logger> out;
  };
  const auto held = std::make_shared<lazy>(in_one_line(name));
  return [held](log_level level, std::string_view line) {
    std::call_once(held->once, [&] {
      held->out.emplace(held->name, std::make_shared<spdlog::sinks::stderr_sink_mt>());
      held->out->set_level(spdlog::level::trace);
      held->out->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %n: %v");
    });
    held->out->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
  };
}

}  // namespace lifering::base
