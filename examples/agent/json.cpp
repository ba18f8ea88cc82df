#include "json.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

namespace {

/// The length of the UTF-8 sequence at the start of the bytes, 0 if there is none. As RFC 3629 has
/// it: no overlong forms, no surrogates, nothing above U+10FFFF.
std::size_t utf8_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0U) != 0x80) return 0;
  }
  const unsigned char second = at(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0;
  const bool too_great = first == 0xf4 && second >= 0x90;
  return overlong || surrogate || too_great ? 0 : length;
}

void append_escape(std::string& to, unsigned code) {
  std::array<char, 8> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "\\u%04x", code);
  to += buffer.data();
}

void append_ascii(std::string& to, char c) {
  if (c == '"' || c == '\\') {
    to += '\\';
    to += c;
  } else if (c == '\n') {
    to += "\\n";
  } else if (c == '\t') {
    to += "\\t";
  } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
    append_escape(to, static_cast<unsigned char>(c));
  } else {
    to += c;
  }
}

std::string unix_seconds(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch());
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%lld.%06lld",
                static_cast<long long>(since.count() / 1'000'000),
                static_cast<long long>(since.count() % 1'000'000));
  return buffer.data();
}

struct event_line {
  std::string operator()(const lifering::member_event& event) const {
    json_object line;
    line.text("event", to_string(event.kind)).raw("t", unix_seconds(event.time));
    line.raw("member", to_json(event.subject)).number("number", event.number);
    if (event.merged > 0) line.number("merged", event.merged);
    return line.line();
  }
  std::string operator()(const lifering::ring_event& event) const {
    json_object line;
    line.text("event", "ring").raw("t", unix_seconds(event.time));
    line.number("version", event.version).text("fingerprint", hex(event.fingerprint));
    line.number("members", event.members).raw("moved", json_fraction(event.moved));
    line.number("number", event.number);
    return line.line();
  }
};

}  // namespace

json_object& json_object::raw(std::string_view key, std::string_view json) {
  if (body_.size() > 1) body_ += ',';
  body_ += json_string(key);
  body_ += ':';
  body_ += json;
  return *this;
}

json_object& json_object::text(std::string_view key, std::string_view value) {
  return raw(key, json_string(value));
}

json_object& json_object::number(std::string_view key, std::uint64_t value) {
  return raw(key, std::to_string(value));
}

std::string json_string(std::string_view bytes) {
  std::string result = "\"";
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 1) {
      append_ascii(result, bytes[0]);
    } else if (length > 1) {
      result += bytes.substr(0, length);
    } else {
      append_escape(result, 0xdc00U + static_cast<unsigned char>(bytes[0]));
    }
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return result + '"';
}

std::string json_fraction(double value) {
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string hex(std::uint64_t value) {
  std::array<char, 17> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%016llx", static_cast<unsigned long long>(value));
  return buffer.data();
}

std::string to_json(const lifering::member& member) {
  json_object object;
  object.text("name", member.name).number("epoch", member.epoch);
  object.text("address", member.address.to_string()).number("incarnation", member.incarnation);
  object.text("state", to_string(member.state)).raw("weight", to_string(member.weight));
  object.text("zone", member.zone).text("meta", member.metadata);
  object.text("service", member.service).text("phase", to_string(member.phase));
  return object.str();
}

std::string to_json(const lifering::event& event) {
  return std::visit(event_line{}, event);
}

std::string to_json(const lifering::message& message) {
  json_object line;
  line.text("event", "message").raw("t", unix_seconds(message.time));
  line.text("from", message.from).text("kind", to_string(message.kind));
  return line.text("text", message.payload).line();
}
