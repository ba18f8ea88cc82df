#include "cluster/json.hpp"

#include <charconv>
#include <stdexcept>

namespace lifering_test {

class json_reader {
 public:
  explicit json_reader(std::string_view text) : text_(text) {}

  json value() {
    json result;
    const char first = peek();
    if (first == '{') {
      result.value_ = object();
    } else if (first == '[') {
      result.value_ = array();
    } else if (first == '"') {
      result.value_ = string();
    } else if (first == '-' || (first >= '0' && first <= '9')) {
      result.value_ = json::literal_number{number()};
    } else if (word("true")) {
      result.value_ = true;
    } else if (word("false")) {
      result.value_ = false;
    } else if (!word("null")) {
      fail("no value");
    }
    return result;
  }

  void end() const {
    if (at_ != text_.size()) fail("something after the value");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("JSON: " + what + " at byte " + std::to_string(at_) + " of " +
                             std::string(text_));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char next() {
    if (at_ == text_.size()) fail("the end");
    return text_[at_++];
  }
  void expect(char c) {
    if (next() != c) fail(std::string("no ") + c);
  }
  bool word(std::string_view sought) {
    if (text_.substr(at_, sought.size()) != sought) return false;
    at_ += sought.size();
    return true;
  }

  json::object object() {
    json::object result;
    expect('{');
    while (peek() != '}') {
      if (!result.empty()) expect(',');
      std::string key = string();
      expect(':');
      if (!result.emplace(std::move(key), value()).second) fail("a key twice");
    }
    expect('}');
    return result;
  }

  json::array array() {
    json::array result;
    expect('[');
    while (peek() != ']') {
      if (!result.empty()) expect(',');
      result.push_back(value());
    }
    expect(']');
    return result;
  }

  std::string number() {
    const std::size_t begin = at_;
    while (std::string_view("+-.eE0123456789").find(peek()) != std::string_view::npos) {
      if (peek() == '\0') break;
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string string() {
    std::string result;
    expect('"');
    while (peek() != '"') {
      const char c = next();
      if (c == '\\') {
        escape(result);
      } else if (static_cast<unsigned char>(c) < 0x20) {
        fail("a bare control character");
      } else if (static_cast<unsigned char>(c) < 0x80) {
        result += c;
      } else {
        --at_;
        utf8(result);
      }
    }
    ++at_;
    return result;
  }

  void escape(std::string& to) {
    const char c = next();
    static constexpr std::string_view names = "\"\\/bfnrt";
    static constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
    if (const auto found = names.find(c); found != std::string_view::npos) {
      to += meant[found];
      return;
    }
    if (c != 'u') fail("an unknown escape");
    unsigned code = 0;
    const auto digits = text_.substr(at_, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc{} || end != digits.data() + 4) fail("no four digits");
    at_ += 4;
    if (code < 0x80) {
      to += static_cast<char>(code);
    } else if (code >= 0xdc80 && code <= 0xdcff) {
      to += static_cast<char>(code - 0xdc00);  // a byte that is not UTF-8
    } else {
      fail("an escape that the agent has no use for");
    }
  }

  /// Decodes, and encodes again: what comes out the same was well formed.
  void utf8(std::string& to) {
    const auto first = static_cast<unsigned char>(text_[at_]);
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    unsigned code = first & (0xffU >> (length + 1));
    if (first < 0xc2 || first > 0xf4 || text_.size() - at_ < length) fail("no UTF-8");
    for (std::size_t i = 1; i < length; ++i) {
      const auto byte = static_cast<unsigned char>(text_[at_ + i]);
      if ((byte & 0xc0U) != 0x80) fail("no UTF-8");
      code = (code << 6U) | (byte & 0x3fU);
    }
    static constexpr unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[length] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) {
      fail("no UTF-8");
    }
    to += text_.substr(at_, length);
    at_ += length;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

json json::parse(std::string_view text) {
  json_reader reader(text);
  json result = reader.value();
  reader.end();
  return result;
}

bool json::has(std::string_view key) const {
  const auto* held = std::get_if<object>(&value_);
  return held != nullptr && held->contains(key);
}

const json& json::operator[](std::string_view key) const {
  const auto& held = get<object>();
  const auto found = held.find(key);
  if (found == held.end()) throw std::runtime_error("JSON: no key " + std::string(key));
  return found->second;
}

std::size_t json::size() const {
  if (const auto* held = std::get_if<object>(&value_)) return held->size();
  return items().size();
}

double json::number() const {
  const auto& digits = get<literal_number>().digits;
  double result = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    throw std::runtime_error("JSON: " + digits + " is no number");
  }
  return result;
}

}  // namespace lifering_test
