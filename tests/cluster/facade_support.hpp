// What the tests of the public interface share: members on loopback, and a memory for events.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <lifering/lifering.hpp>
#include <mutex>
#include <string>
#include <vector>

#include "support/eventually.hpp"

namespace lifering_test {

using namespace std::chrono_literals;

/// How long a test waits for what must come: long, since it only passes when something is broken.
inline constexpr std::chrono::seconds patience{30};

inline lifering::options member_options(std::string name) {
  auto options = lifering::options::local();
  options.name = std::move(name);
  options.cluster = "test";
  options.bind = "127.0.0.1:0";
  options.level = lifering::log_level::off;
  return options;
}

inline std::vector<std::string> seeds_of(const lifering::cluster& cluster) {
  return {cluster.local_address().to_string()};
}

/// Keeps all events, and lets a test wait for one.
class event_memory {
 public:
  void attach(lifering::cluster& to) {
    to.on_event([this](const lifering::event& event) { add(event); });
  }

  void add(const lifering::event& event) {
    const std::lock_guard lock(mutex_);
    all_.push_back(event);
    changed_.notify_all();
  }

  /// Waits until the member had such an event, `times` times.
  bool has(lifering::event_kind kind, const std::string& name, std::ptrdiff_t times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] {
      return std::count_if(all_.begin(), all_.end(), [&](const lifering::event& event) {
               const auto* change = std::get_if<lifering::member_event>(&event);
               return change != nullptr && change->kind == kind && change->subject.name == name;
             }) >= times;
    });
  }

  std::vector<lifering::event> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<lifering::event> all_;
};

inline std::uint64_t stat(const lifering::cluster& of, std::string_view name) {
  for (const auto& row : of.stats()) {
    if (row.name == name) return row.value;
  }
  throw std::logic_error("no metric " + std::string(name));
}

}  // namespace lifering_test
