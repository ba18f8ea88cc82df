#include "base/text.hpp"

namespace lifering::base {
namespace {

constexpr std::size_t shown_max = 64;

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);  // char is unsigned on some processors.
  return byte < ' ' || byte == 0x7f;
}

void append_escape(std::string& to, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  to += "\\x";
  to += digits[byte >> 4U];
  to += digits[byte & 15U];
}

}  // namespace

std::string quoted_start(std::string_view text) {
  std::string result = "\"";
  for (const char c : text.substr(0, shown_max)) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
      result += c;
    } else {
      append_escape(result, c);
    }
  }
  return result + (text.size() > shown_max ? "...\"" : "\"");
}

std::string quoted(std::string_view text) {
  auto result = quoted_start(text);
  if (text.size() > shown_max) result += " (" + std::to_string(text.size()) + " bytes)";
  return result;
}

std::string in_one_line(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (is_control(c)) {
      append_escape(result, c);
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace lifering::base
