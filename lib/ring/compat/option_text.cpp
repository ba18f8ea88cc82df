// Lists, escapes and complaints of placements as text.
#include "ring/compat/option_text.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace lifering::compat {

namespace {

constexpr std::string_view digits = "0123456789abcdef";
constexpr std::string_view separators = "\\,;@";

std::string escape(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    if (c > ' ' && c < '\x7f' && separators.find(c) == separators.npos) {
      text += c;
    } else {
      const auto value = static_cast<unsigned char>(c);
      text += "\\x";
      text += digits[value / 16];
      text += digits[value % 16];
    }
  }
  return text;
}

std::optional<std::string> unescape(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    if (i + 3 >= text.size() || text[i + 1] != 'x') {
      return std::nullopt;
    }
    unsigned value = 0;
    const char* end = text.data() + i + 4;
    if (const auto [stopped, error] = std::from_chars(end - 2, end, value, 16);
        error != std::errc{} || stopped != end) {
      return std::nullopt;
    }
    bytes += static_cast<char>(value);
    i += 3;
  }
  return bytes;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

/// Two texts around an @.
struct pair_of_texts {
  std::string first;
  std::string second;
};

std::optional<pair_of_texts> split_pair(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == text.npos) {
    return std::nullopt;
  }
  auto first = unescape(text.substr(0, at));
  auto second = unescape(text.substr(at + 1));
  if (!first || !second) {
    return std::nullopt;
  }
  return pair_of_texts{*std::move(first), *std::move(second)};
}

bool read_number(std::string_view text, std::uint32_t& to) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, to);
  return error == std::errc{} && stopped == end && !text.empty();
}

template <class List, class Write>
std::string join(const List& list, Write write) {
  std::string text;
  for (const auto& item : list) {
    text += (text.empty() ? "" : ";") + write(item);
  }
  return text;
}

}  // namespace

problem bad_option(std::string text) {
  return {errc::invalid_placement, std::move(text)};
}

std::optional<problem> split_options(std::string_view text, option_list& to) {
  const std::size_t colon = text.find(':');
  to.name = text.substr(0, colon);
  if (colon == text.npos) {
    return std::nullopt;
  }
  for (const std::string_view option : split(text.substr(colon + 1), ',')) {
    const std::size_t equals = option.find('=');
    if (equals == option.npos || equals == 0) {
      return bad_option(to.name + ": \"" + std::string{option} +
                        "\" is no option; write option=value, with commas between");
    }
    to.options.push_back(
        {std::string{option.substr(0, equals)}, std::string{option.substr(equals + 1)}});
  }
  return std::nullopt;
}

const std::string* option_reader::take(std::string_view name) {
  const std::string* found = nullptr;
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (given_.options[i].name == name) {
      if (found != nullptr && !wrong_) {
        wrong_ = bad_option(given_.name + ": " + std::string{name} + " is given twice");
      }
      found = &given_.options[i].value;
      taken_[i] = true;
    }
  }
  return found;
}

void option_reader::complain(std::string_view name, std::string_view value,
                             const std::string& rule) {
  if (!wrong_) {
    wrong_ = bad_option(given_.name + ": " + std::string{name} + " is \"" + std::string{value} +
                        "\"; " + rule);
  }
}

void option_reader::flag(std::string_view name, bool& to) {
  if (const std::string* value = take(name)) {
    to = *value == "on";
    if (!to && *value != "off") {
      complain(name, *value, "use on or off");
    }
  }
}

void option_reader::text(std::string_view name, std::string& to) {
  if (const std::string* value = take(name)) {
    if (auto bytes = unescape(*value)) {
      to = *std::move(bytes);
    } else {
      complain(name, *value, "a backslash begins \\xHH");
    }
  }
}

void option_reader::order(std::vector<std::string>& to) {
  if (const std::string* value = take("order")) {
    for (const std::string_view part : split(*value, ';')) {
      if (auto name = unescape(part)) {
        to.push_back(*std::move(name));
      } else {
        complain("order", part, "a backslash begins \\xHH");
      }
    }
  }
}

void option_reader::ids(std::vector<server_id>& to) {
  if (const std::string* value = take("ids")) {
    for (const std::string_view part : split(*value, ';')) {
      if (auto both = split_pair(part)) {
        to.push_back({std::move(both->first), std::move(both->second)});
      } else {
        complain("ids", part, "write NAME@ID, with semicolons between");
      }
    }
  }
}

void option_reader::ranges(std::vector<redis_slots::range>& to) {
  if (const std::string* value = take("ranges")) {
    for (const std::string_view part : split(*value, ';')) {
      auto both = split_pair(part);
      const std::string slots = both ? both->first : "";
      const std::size_t dash = std::min(slots.find('-'), slots.size());
      redis_slots::range range{};
      const std::string_view last =
          dash == slots.size() ? std::string_view{slots} : std::string_view{slots}.substr(dash + 1);
      if (read_number(std::string_view{slots}.substr(0, dash), range.first) &&
          read_number(last, range.last)) {
        range.node = std::move(both->second);
        to.push_back(std::move(range));
      } else {
        complain("ranges", part, "write FIRST-LAST@NAME, with semicolons between");
      }
    }
  }
}

std::optional<problem> option_reader::finish() {
  for (std::size_t i = 0; i < taken_.size() && !wrong_; ++i) {
    if (!taken_[i]) {
      wrong_ = bad_option(given_.name + " has no option \"" + given_.options[i].name + "\"");
    }
  }
  return wrong_;
}

void option_writer::write(std::string_view name, std::string value) {
  entries_.push_back(std::string{name} + '=' + std::move(value));
}

void option_writer::text(std::string_view name, const std::string& from) {
  write(name, escape(from));
}

void option_writer::order(const std::vector<std::string>& from) {
  if (!from.empty()) {
    write("order", join(from, escape));
  }
}

void option_writer::ids(const std::vector<server_id>& from) {
  if (!from.empty()) {
    write("ids", join(from, [](const server_id& each) {
            return escape(each.name) + '@' + escape(each.id);
          }));
  }
}

void option_writer::ranges(const std::vector<redis_slots::range>& from) {
  if (!from.empty()) {
    write("ranges", join(from, [](const redis_slots::range& each) {
            return std::to_string(each.first) + '-' + std::to_string(each.last) + '@' +
                   escape(each.node);
          }));
  }
}

std::string option_writer::joined(std::string_view name, const option_writer& defaults) const {
  std::string text{name};
  char separator = ':';
  for (const std::string& entry : entries_) {
    const auto& others = defaults.entries_;
    if (std::find(others.begin(), others.end(), entry) == others.end()) {
      text += std::exchange(separator, ',') + entry;
    }
  }
  return text;
}

void option_checker::complain(std::string_view name, std::string_view value,
                              const std::string& rule) {
  if (!wrong) {
    wrong = bad_option(std::string{system_} + ": " + std::string{name} + " is " +
                       std::string{value} + "; " + rule);
  }
}

void option_checker::order(const std::vector<std::string>& value) {
  std::vector<std::string> sorted = value;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    complain("order", "a list with " + base::quoted(*twice) + " twice", "name each server once");
  }
}

void option_checker::ids(const std::vector<server_id>& value) {
  std::vector<std::string> names;
  for (const server_id& each : value) {
    if (each.id.empty()) {
      complain("ids", "a list with an empty id for " + base::quoted(each.name), "ids aren't empty");
    }
    names.push_back(each.name);
  }
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end()) {
    complain("ids", "a list with a name twice", "give each server one id");
  }
}

void option_checker::ranges(const std::vector<redis_slots::range>& value) {
  std::uint32_t next = 0;
  for (const redis_slots::range& each : value) {  // Sorted by the rule.
    if (each.first < next || each.last < each.first || each.last >= redis_slots::count) {
      complain("ranges",
               "a list with " + std::to_string(each.first) + '-' + std::to_string(each.last),
               "ranges are within 0-16383 and don't overlap");
    }
    next = each.last + 1;
  }
}

}  // namespace lifering::compat
