// A sink for log lines, which keeps them.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace lifering_test {

/// Must outlive whoever has its sink. Lines may come on another thread.
class log_memory {
 public:
  auto sink() {
    return [this](auto /*level*/, std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    };
  }

  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  /// Whether this is in one of the lines.
  bool says(std::string_view part) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(lines_.begin(), lines_.end(), [part](const std::string& line) {
      return line.find(part) != std::string::npos;
    });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace lifering_test
