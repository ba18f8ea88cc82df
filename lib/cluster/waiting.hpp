// Operations that a thread waits for, or nobody; and how their ends are told.
#pragma once

#include <algorithm>
#include <chrono>
#include <future>
#include <lifering/error.hpp>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cluster/core.hpp"

namespace lifering::cluster_detail {

struct outcome {
  std::error_code error;
  std::size_t count = 0;
  std::string why;
};

/// An operation that a thread waits for.
class waited_operation final : public operation {
 public:
  std::future<outcome> result() { return promise_.get_future(); }
  void complete(std::error_code error, std::size_t count, const std::string& why) override {
    promise_.set_value({error, count, why});
  }
  void on_cancel(std::function<void()>) override {}

 private:
  std::promise<outcome> promise_;
};

/// An operation whose end nobody waits for.
class unattended_operation final : public operation {
 public:
  void complete(std::error_code, std::size_t, const std::string&) override {}
  void on_cancel(std::function<void()>) override {}
};

/// A time that can be added to any point in time: none below zero, none above a year.
inline std::chrono::milliseconds bounded(std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds year = std::chrono::hours{24 * 365};
  return std::clamp(time, std::chrono::milliseconds{0}, year);
}

/// Begins a command and waits for its end. The machine keeps the deadline; ours is later, for when
/// nobody runs the executor.
template <class Command>
outcome run(core& inside, Command command, std::chrono::milliseconds timeout) {
  auto error = inside.unavailable();
  if (!error && !inside.may_wait()) error = errc::would_deadlock;
  if (error) return {error, 0, ""};
  auto waited = std::make_unique<waited_operation>();
  auto result = waited->result();
  inside.begin(std::move(command), std::move(waited));
  constexpr std::chrono::milliseconds grace{2000};
  if (result.wait_for(bounded(timeout) + grace) != std::future_status::ready) {
    return {errc::timed_out, 0, "the executor of the cluster object has made no turn in time"};
  }
  try {
    return result.get();
  } catch (const std::future_error&) {  // What should have ended it was destroyed.
    return {errc::canceled, 0, "the executor of the cluster object has ended"};
  }
}

inline std::error_code code_of(const std::optional<problem>& found) {
  return found ? make_error_code(found->code) : std::error_code();
}

inline void throw_if_failed(std::error_code error) {
  if (error) throw std::system_error(error);
}

inline void throw_if_failed(const outcome& result) {
  if (!result.error) return;
  if (result.why.empty()) throw std::system_error(result.error);
  if (result.error.category() != error_category()) {
    throw std::system_error(result.error, result.why);
  }
  throw_if(problem{static_cast<errc>(result.error.value()), result.why});
}

}  // namespace lifering::cluster_detail
