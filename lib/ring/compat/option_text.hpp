// Placements as text, "NAME:option=value,...": reading, writing and checking them.
//
// Each system describes its options once, in a function that shows them to a visitor one by one.
// The four visitors here do the rest. What they write is what equality and ids of placements are
// made of, so an option that has its default is left out, and there is one way to write a value.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <lifering/compat.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lifering::compat {

/// Text taken apart at its separators; values as they stand.
struct option_list {
  struct option {
    std::string name;
    std::string value;
  };
  std::string name;
  std::vector<option> options;
};

/// `NAME[:option=value,...]`, or what is wrong with it.
std::optional<problem> split_options(std::string_view text, option_list& to);

problem bad_option(std::string text);

/// "a, b or c"
template <std::size_t Count>
std::string listed(const std::array<std::string_view, Count>& words) {
  std::string text;
  for (std::size_t i = 0; i < Count; ++i) {
    text += i == 0 ? "" : (i + 1 == Count ? " or " : ", ");
    text += words[i];
  }
  return text;
}

/// Takes options from a list. The first thing that is wrong is kept.
class option_reader {
 public:
  explicit option_reader(const option_list& given) : given_(given), taken_(given.options.size()) {}

  template <class Enum, std::size_t Count>
  void word(std::string_view name, Enum& to, const std::array<std::string_view, Count>& words) {
    if (const std::string* value = take(name)) {
      for (std::size_t i = 0; i < Count; ++i) {
        if (*value == words[i]) {
          to = static_cast<Enum>(i);
          return;
        }
      }
      complain(name, *value, "use " + listed(words));
    }
  }
  template <class Number>
  void number(std::string_view name, Number& to, Number /*min*/, Number /*max*/) {
    if (const std::string* value = take(name)) {
      const char* end = value->data() + value->size();
      const auto [stopped, error] = std::from_chars(value->data(), end, to);
      if (value->empty() || error != std::errc{} || stopped != end) {
        complain(name, *value, "it must be a whole number");
      }
    }
  }
  void flag(std::string_view name, bool& to);
  void text(std::string_view name, std::string& to);
  void order(std::vector<std::string>& to);
  void ids(std::vector<server_id>& to);
  void ranges(std::vector<redis_slots::range>& to);

  /// What was wrong, or an option that nobody took.
  std::optional<problem> finish();

 private:
  const std::string* take(std::string_view name);
  void complain(std::string_view name, std::string_view value, const std::string& rule);

  const option_list& given_;
  std::vector<bool> taken_;
  std::optional<problem> wrong_;
};

/// Collects "option=value" of all options.
class option_writer {
 public:
  template <class Enum, std::size_t Count>
  void word(std::string_view name, const Enum& from,
            const std::array<std::string_view, Count>& words) {
    // What no word stands for is refused by the checker, and written all the same.
    const auto index = static_cast<std::size_t>(from);
    write(name, index < Count ? std::string{words[index]} : std::to_string(index));
  }
  template <class Number>
  void number(std::string_view name, Number from, Number /*min*/, Number /*max*/) {
    write(name, std::to_string(from));
  }
  void flag(std::string_view name, bool from) { write(name, from ? "on" : "off"); }
  void text(std::string_view name, const std::string& from);
  void order(const std::vector<std::string>& from);
  void ids(const std::vector<server_id>& from);
  void ranges(const std::vector<redis_slots::range>& from);

  /// Those that differ from what `defaults` wrote.
  std::string joined(std::string_view name, const option_writer& defaults) const;

 private:
  void write(std::string_view name, std::string value);

  std::vector<std::string> entries_;
};

/// Checks that values are in range.
class option_checker {
 public:
  explicit option_checker(std::string_view name) : system_(name) {}

  template <class Enum, std::size_t Count>
  void word(std::string_view name, const Enum& value,
            const std::array<std::string_view, Count>& words) {
    if (static_cast<std::size_t>(value) >= Count) {
      complain(name, std::to_string(static_cast<std::size_t>(value)), "use " + listed(words));
    }
  }
  template <class Number>
  void number(std::string_view name, Number value, Number min, Number max) {
    if (value < min || value > max) {
      complain(name, std::to_string(value),
               "use " + std::to_string(min) + " to " + std::to_string(max));
    }
  }
  void flag(std::string_view /*name*/, bool /*value*/) {}
  void text(std::string_view /*name*/, const std::string& /*value*/) {}
  void order(const std::vector<std::string>& value);
  void ids(const std::vector<server_id>& value);
  void ranges(const std::vector<redis_slots::range>& value);

  std::optional<problem> wrong;

 private:
  void complain(std::string_view name, std::string_view value, const std::string& rule);

  std::string_view system_;
};

/// Replaces the lists of servers.
struct server_setter {
  std::vector<std::string> new_order;
  std::vector<server_id> new_ids;

  template <class Enum, std::size_t Count>
  void word(std::string_view /*name*/, Enum& /*to*/,
            const std::array<std::string_view, Count>& /*words*/) {}
  template <class Number>
  void number(std::string_view /*name*/, Number& /*to*/, Number /*min*/, Number /*max*/) {}
  void flag(std::string_view /*name*/, bool& /*to*/) {}
  void text(std::string_view /*name*/, std::string& /*to*/) {}
  void order(std::vector<std::string>& to) {
    if (!new_order.empty()) to = new_order;
  }
  void ids(std::vector<server_id>& to) {
    if (!new_ids.empty()) to = new_ids;
  }
  void ranges(std::vector<redis_slots::range>& /*to*/) {}
};

}  // namespace lifering::compat
