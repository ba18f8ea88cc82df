// The JSON that the agent speaks.
#pragma once

#include <cstdint>
#include <lifering/event.hpp>
#include <lifering/member.hpp>
#include <string>
#include <string_view>

/// Builds one JSON object, key by key.
class json_object {
 public:
  json_object& text(std::string_view key, std::string_view value);
  json_object& number(std::string_view key, std::uint64_t value);
  /// Any value that is JSON already.
  json_object& raw(std::string_view key, std::string_view json);

  std::string str() const { return body_ + '}'; }
  std::string line() const { return body_ + "}\n"; }

 private:
  std::string body_ = "{";
};

/// A JSON string, quotes included. Bytes that aren't UTF-8 become lone surrogates \udc80 to \udcff,
/// as in Python's surrogateescape, so that they can be told from characters and turned back.
std::string json_string(std::string_view bytes);

/// A value between 0 and 1.
std::string json_fraction(double value);

/// 64 bits as 16 hexadecimal digits.
std::string hex(std::uint64_t value);

std::string to_json(const lifering::member& member);

/// One line, with its end.
std::string to_json(const lifering::event& event);
std::string to_json(const lifering::message& message);
