#include "sim/line_reader.hpp"

#include <charconv>

namespace lifering::sim {
namespace {

/// Sums of a few of these are durations still.
constexpr auto longest = std::chrono::hours{24 * 365};

}  // namespace

line_reader::line_reader(std::string_view scenario_name, int number, std::string_view line)
    : name_(scenario_name), number_(number) {
  std::size_t i = 0;
  while (i < line.size()) {
    const char c = line[i];
    if (c == '#') break;
    if (c == ' ' || c == '\t' || c == '\r') {
      ++i;
    } else if (c == '"') {
      const auto close = line.find('"', i + 1);
      if (close == std::string_view::npos) fail("a quoted text has no end");
      words_.push_back({std::string(line.substr(i + 1, close - i - 1)), true});
      i = close + 1;
    } else {
      const auto end = std::min(line.find_first_of(" \t\r#", i), line.size());
      words_.push_back({std::string(line.substr(i, end - i)), false});
      i = end;
    }
  }
}

bool line_reader::accept(std::string_view text) {
  if (empty() || words_[next_].quoted || words_[next_].text != text) return false;
  ++next_;
  return true;
}

void line_reader::expect(std::string_view text) {
  if (!accept(text)) {
    fail("expected \"" + std::string(text) + "\"" +
         (empty() ? " at the end" : " instead of \"" + words_[next_].text + "\""));
  }
}

void line_reader::finish() {
  if (!empty()) fail("\"" + words_[next_].text + "\" is one word too many");
}

const line_reader::word& line_reader::take(std::string_view what) {
  if (empty()) fail("expected " + std::string(what) + " at the end");
  return words_[next_++];
}

std::string line_reader::take_word(std::string_view what) {
  return take(what).text;
}

std::string line_reader::take_quoted(std::string_view what) {
  const word& found = take(what);
  if (!found.quoted) fail(std::string(what) + " must be in double quotes");
  return found.text;
}

base::duration line_reader::take_duration(std::string_view what) {
  const word& found = take(what);
  const auto value = parse_duration(found.text);
  if (!value) {
    fail("\"" + found.text + "\" is no " + std::string(what) + "; 10s, 0.5s and 200ms would be");
  }
  if (*value > longest) fail("\"" + found.text + "\" is longer than a year");
  return *value;
}

ppm line_reader::take_probability(std::string_view what) {
  const word& found = take(what);
  const auto value = parse_probability(found.text);
  if (!value) fail("\"" + found.text + "\" is no " + std::string(what) + "; 0 to 1 would be");
  return *value;
}

node_set line_reader::take_nodes() {
  const word& found = take("members");
  const auto value = node_set::parse(found.text);
  if (!value) fail("\"" + found.text + "\" names no members; 3, 1-10, 1-10,14 and * would");
  return *value;
}

std::uint64_t line_reader::take_number(std::string_view what, std::uint64_t min,
                                       std::uint64_t max) {
  const word& found = take(what);
  std::uint64_t value = 0;
  const char* end = found.text.data() + found.text.size();
  const auto [stop, error] = std::from_chars(found.text.data(), end, value);
  if (error != std::errc{} || stop != end || value < min || value > max) {
    fail("\"" + found.text + "\" is no " + std::string(what) + "; " + std::to_string(min) + " to " +
         std::to_string(max) + " would be");
  }
  return value;
}

lifering::weight line_reader::take_weight() {
  const word& found = take("a weight");
  const auto value = weight::parse(found.text);
  if (!value) fail("\"" + found.text + "\" is no weight; 0 and 0.01 to 100 would be");
  return *value;
}

void line_reader::fail(std::string_view text) const {
  throw scenario_error(name_, number_, text);
}

}  // namespace lifering::sim
