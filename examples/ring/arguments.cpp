// Reading flags, numbers and files, with one sentence for each way to get them wrong.
#include "arguments.hpp"

#include <charconv>
#include <fstream>

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
  return true;
}

std::string arguments::value() {
  if (next_ == words_.size()) {
    throw usage_error(flag_ + " needs a value");
  }
  return words_[next_++];
}

std::uint32_t arguments::number() {
  const std::string text = value();
  std::uint32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end || text.empty()) {
    throw usage_error(flag_ + " is \"" + text + "\"; it must be a whole number");
  }
  return number;
}

bool take_placement_flag(arguments& args, lifering::placement_options& placement) {
  if (args.flag() == "--placement") {
    const std::string word = args.value();
    const auto kind = lifering::parse_placement(word);
    if (!kind) {
      throw usage_error("placement \"" + word + "\" is unknown; use classic, mixed or slots");
    }
    placement.kind = *kind;
  } else if (args.flag() == "--vnodes") {
    placement.vnodes = args.number();
  } else if (args.flag() == "--label") {
    placement.label = args.value();
  } else if (args.flag() == "--segments") {
    placement.segments = args.number();
  } else if (args.flag() == "--cap") {
    // A part of the fair share, read with the places and the care of a weight.
    const std::string text = args.value();
    const auto part = lifering::weight::parse(text);
    if (!part || part->thousandths() > 10'000) {
      throw usage_error("cap is \"" + text +
                        "\"; use 0 for none or a part such as 0.05, 0.01 to 10");
    }
    placement.cap = part->thousandths();
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
