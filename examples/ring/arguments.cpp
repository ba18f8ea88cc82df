// Reading flags, numbers and files, with one sentence for each way to get them wrong.
#include "arguments.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <utility>

#if defined(LIFERING_COMPAT)
#include <lifering/compat.hpp>
#endif

namespace ring_tool {

bool arguments::next_is_flag() {
  if (!only_words_ && next_ < words_.size() && words_[next_] == "--") {
    only_words_ = true;
    ++next_;
  }
  if (only_words_ || next_ == words_.size() || !words_[next_].starts_with("--")) {
    return false;
  }
  flag_ = words_[next_++];
  value_.reset();
  if (const auto equals = flag_.find('='); equals != flag_.npos) {
    value_ = flag_.substr(equals + 1);
    flag_.erase(equals);
    if (flag_ == "--hex") {
      throw usage_error(flag_ + " takes no value");
    }
  }
  return true;
}

std::string arguments::value() {
  if (value_) {
    return *std::exchange(value_, std::nullopt);
  }
  if (next_ == words_.size()) {
    throw usage_error(flag_ + " needs a value");
  }
  if (!only_words_ && words_[next_].starts_with("--")) {
    throw usage_error(flag_ + " needs a value, and " + words_[next_] +
                      " looks like a flag; if it is meant, write " + flag_ + '=' + words_[next_]);
  }
  return words_[next_++];
}

std::uint32_t arguments::number() {
  const std::string text = value();
  std::uint32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end || text.empty()) {
    throw usage_error(flag_ + " is \"" + text + "\"; it must be a whole number, up to " +
                      std::to_string(std::numeric_limits<std::uint32_t>::max()));
  }
  return number;
}

namespace {

void read_placement(const std::string& text, lifering::placement_options& placement) {
  if (const auto kind = lifering::parse_placement(text)) {
    placement.kind = *kind;
    placement.foreign = {};
    return;
  }
  const std::string name = text.substr(0, text.find(':'));
  if (lifering::parse_placement(name)) {
    throw usage_error(
        "placement " + name +
        " takes no options after a colon; use --vnodes, --label, --segments or --cap");
  }
  std::string words = "classic, mixed or slots";
#if defined(LIFERING_COMPAT)
  if (lifering::compat::is_name(text)) {
    lifering::problem wrong;
    const auto foreign = lifering::compat::parse(text, wrong);
    if (!foreign) {
      throw usage_error(wrong.text);
    }
    placement.kind = foreign->kind;
    placement.foreign = foreign->foreign;
    return;
  }
  words = "classic, mixed, slots, nginx, haproxy, ketama, envoy_ring, maglev, redis_slots or kafka";
#endif
  throw usage_error("placement \"" + name + "\" is unknown; use " + words);
}

/// A part of the fair share, in thousandths.
std::uint32_t read_cap(const std::string& text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string places = text.substr(std::min(point + 1, text.size()));
  const bool is_short = point > 0 && point <= 2 && places.size() <= 3;
  const bool ends_well = point == text.size() || !places.empty();
  places.resize(3, '0');
  const std::string digits = text.substr(0, point) + places;
  std::uint32_t part = 0;
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, part);
  if (!is_short || !ends_well || error != std::errc{} || stopped != end || part > 10'000) {
    throw usage_error("cap is \"" + text +
                      "\"; use 0 for none or a part such as 0.05, 0.001 to 10");
  }
  return part;
}

}  // namespace

bool take_placement_flag(arguments& args, lifering::placement_options& placement) {
  if (args.flag() == "--placement") {
    read_placement(args.value(), placement);
  } else if (args.flag() == "--vnodes") {
    placement.vnodes = args.number();
  } else if (args.flag() == "--label") {
    placement.label = args.value();
  } else if (args.flag() == "--segments") {
    placement.segments = args.number();
  } else if (args.flag() == "--cap") {
    placement.cap = read_cap(args.value());
  } else {
    return false;
  }
  return true;
}

void check(const lifering::placement_options& placement) {
  if (const auto found = placement.validate()) {
    throw usage_error(found->text);
  }
}

void unknown_flag(const std::string& flag, std::string_view command) {
  throw usage_error("flag " + flag + " is unknown to " + std::string{command} +
                    "; see lifering-ring --help");
}

std::vector<std::string> read_lines(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(std::move(line));
  }
  if (lines.empty() && (!in.eof() || in.bad())) {
    throw usage_error("file \"" + file + "\" can't be read; give one that exists and is readable");
  }
  return lines;
}

}  // namespace ring_tool
