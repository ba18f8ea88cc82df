// Lines on stdout, whole and in order, from several threads.
#pragma once

#include <mutex>
#include <string_view>

/// A reader that stops reading holds up only who writes, and no longer than until the process is
/// asked to end: after abandon(), what can't be written at once is dropped.
class output {
 public:
  /// Writes whole lines. Safe from any thread.
  void write(std::string_view lines);

  /// Safe from any thread and from a signal handler.
  static void abandon() noexcept;

 private:
  std::mutex mutex_;
  bool broken_ = false;  ///< Nobody holds the other end any more.
};
