// One line of a scenario, word by word.
#pragma once

#include <cstdint>
#include <lifering/weight.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario.hpp"

namespace lifering::sim {

/// Every `take_*` reads the next word, or throws a scenario_error that says what it should have
/// been.
class line_reader {
 public:
  /// Splits at blanks; text in double quotes is one word; `#` begins a comment.
  line_reader(std::string_view scenario_name, int number, std::string_view line);

  bool empty() const noexcept { return next_ == words_.size(); }
  int number() const noexcept { return number_; }

  /// Takes the next word if it is this one.
  bool accept(std::string_view text);
  void expect(std::string_view text);
  /// The line must be over.
  void finish();

  std::string take_word(std::string_view what);
  std::string take_quoted(std::string_view what);
  base::duration take_duration(std::string_view what);
  ppm take_probability(std::string_view what);
  node_set take_nodes();
  std::uint64_t take_number(std::string_view what, std::uint64_t min, std::uint64_t max);
  lifering::weight take_weight();

  [[noreturn]] void fail(std::string_view text) const;

 private:
  struct word {
    std::string text;
    bool quoted;
  };
  const word& take(std::string_view what);

  std::string name_;
  int number_;
  std::vector<word> words_;
  std::size_t next_ = 0;
};

}  // namespace lifering::sim
