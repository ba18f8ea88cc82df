// Programs under test as processes of their own: started, written to, read from, signalled.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lifering_test {

/// One child process. Its destructor kills it, and nothing else, if it still runs.
class process {
 public:
  using clock = std::chrono::steady_clock;

  /// `words[0]` is the program's path.
  explicit process(const std::vector<std::string>& words);
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  void write(std::string_view text);
  void close_input();

  void signal(int number) const;

  pid_t pid() const { return pid_; }

  /// What stdout has given so far, line by line, without ends. Reads what there is.
  const std::vector<std::string>& lines();

  /// The same, and forgets them: for who runs for long.
  std::vector<std::string> take_lines();

  /// Waits until a line pleases, counted from line `from`; nothing when the time is up or the
  /// process closed its output.
  std::optional<std::string> wait_for_line(const std::function<bool(const std::string&)>& pleases,
                                           std::chrono::milliseconds patience,
                                           std::size_t from = 0);

  /// Waits for the end; the exit code, 128 + n for signal n, or nothing when the time is up.
  std::optional<int> wait(std::chrono::milliseconds patience);

  /// All that stderr has given so far.
  const std::string& errors();

 private:
  void pump(std::chrono::milliseconds patience);

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int error_ = -1;
  std::string partial_;
  std::vector<std::string> lines_;
  std::string errors_;
  std::optional<int> status_;
};

}  // namespace lifering_test
