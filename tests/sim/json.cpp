#include "sim/json.hpp"

#include <cstdio>

namespace lifering::sim {

void json_writer::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

json_writer& json_writer::open(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
  return *this;
}

json_writer& json_writer::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

json_writer& json_writer::key(std::string_view name) {
  value(name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

json_writer& json_writer::value(std::string_view text) {
  separate();
  text_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      text_ += escape;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
  return *this;
}

json_writer& json_writer::value(std::uint64_t number) {
  return raw(std::to_string(number));
}

json_writer& json_writer::value(double number) {
  char text[48];
  std::snprintf(text, sizeof text, "%.6g", number);
  return raw(text);
}

json_writer& json_writer::raw(std::string_view text) {
  separate();
  text_ += text;
  return *this;
}

}  // namespace lifering::sim
