// Writes JSON, one value after the other. Only what reports need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lifering::sim {

class json_writer {
 public:
  json_writer& open(char bracket);
  json_writer& close(char bracket);
  json_writer& key(std::string_view name);
  json_writer& value(std::string_view text);
  json_writer& value(const char* text) { return value(std::string_view(text)); }
  json_writer& value(std::uint64_t number);
  json_writer& value(int number) { return raw(std::to_string(number)); }
  json_writer& value(bool truth) { return raw(truth ? "true" : "false"); }
  json_writer& value(double number);
  json_writer& value(const std::optional<double>& number) {
    return number ? value(*number) : raw("null");
  }

  template <class Value>
  json_writer& member(std::string_view name, const Value& what) {
    return key(name).value(what);
  }

  const std::string& text() const noexcept { return text_; }

 private:
  json_writer& raw(std::string_view text);
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace lifering::sim
