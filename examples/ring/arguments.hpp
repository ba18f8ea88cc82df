// The command line of lifering-ring.
#pragma once

#include <cstdint>
#include <lifering/ring.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ring_tool {

/// A mistake of the person at the keyboard: one sentence for stderr, and exit code 2.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The words after the command, taken from the front: `--flag VALUE`, `--flag=VALUE` or a plain
/// word.
class arguments {
 public:
  arguments(char** first, char** last) : words_(first, last) {}

  /// Whether a flag is next; it is then in flag(), without its value.
  bool next_is_flag();
  bool done() const { return next_ == words_.size(); }
  const std::string& flag() const { return flag_; }

  /// The value of the flag, or a plain word. Throws usage_error if there is none.
  std::string value();

  std::uint32_t number();

 private:
  std::vector<std::string> words_;
  std::size_t next_ = 0;
  std::string flag_;
  std::optional<std::string> value_;  ///< That came after the flag's `=`.
  bool only_words_ = false;           ///< After `--`.
};

/// Takes a flag that describes a placement (--placement, --vnodes, --label, --segments, --cap);
/// false if it is another one.
bool take_placement_flag(arguments& args, lifering::placement_options& placement);

/// Throws usage_error with what is wrong.
void check(const lifering::placement_options& placement);

[[noreturn]] void unknown_flag(const std::string& flag, std::string_view command);

/// The lines of a file, without their ends.
std::vector<std::string> read_lines(const std::string& file);

class key_list;

/// Whether a placement's partitions answer for themselves, without a node.
bool has_partitions(const lifering::placement_options& placement);

/// key<TAB>slot a line, for a placement that has slots.
void print_slots(const lifering::placement_options& placement, const key_list& keys);

// The commands. Each returns the exit code.
int run_owner(arguments args);
int run_slot(arguments args);
int run_report(arguments args);
int run_bench(arguments args);

}  // namespace ring_tool
