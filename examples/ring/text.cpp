// Escapes and hexadecimal digits.
#include "text.hpp"

namespace ring_tool {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

std::optional<unsigned> digit(char c) {
  if (c >= 'A' && c <= 'F') {
    c = static_cast<char>(c - 'A' + 'a');
  }
  const std::size_t value = digits.find(c);
  return value == digits.npos ? std::nullopt : std::optional{static_cast<unsigned>(value)};
}

std::optional<char> byte(std::string_view two) {
  if (two.size() < 2) {
    return std::nullopt;
  }
  const auto high = digit(two[0]);
  const auto low = digit(two[1]);
  if (!high || !low) {
    return std::nullopt;
  }
  return static_cast<char>(*high * 16 + *low);
}

void append_hex(std::string& text, char c) {
  const auto value = static_cast<unsigned char>(c);
  text += digits[value / 16];
  text += digits[value % 16];
}

}  // namespace

std::string escape(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    if (c > ' ' && c < '\x7f' && c != '\\') {
      text += c;
    } else {
      text += "\\x";
      append_hex(text, c);
    }
  }
  return text;
}

std::string in_one_line(std::string_view sentence) {
  std::string text;
  for (const char c : sentence) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      text += "\\x";
      append_hex(text, c);
    } else {
      text += c;
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
    const auto value = text.substr(i).starts_with("\\x") ? byte(text.substr(i + 2)) : std::nullopt;
    if (!value) {
      return std::nullopt;
    }
    bytes += *value;
    i += 3;
  }
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    append_hex(text, c);
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto value = byte(text.substr(i));
    if (!value) {
      return std::nullopt;
    }
    bytes += *value;
  }
  return bytes;
}

std::string in_json(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '"' || c == '\\' ? "\\" : "";
    result += c;
  }
  return result;
}

std::string in_xml(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<' || c == '&') {
      result += c == '<' ? "&lt;" : "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace ring_tool
