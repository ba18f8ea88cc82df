// A small JSON reader, strict about what a line of the agent may hold: RFC 8259, and UTF-8.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lifering_test {

/// A value. Asking for what is not there throws std::runtime_error, which fails the test.
class json {
 public:
  using array = std::vector<json>;
  using object = std::map<std::string, json, std::less<>>;

  /// Reads exactly one value. Throws std::runtime_error that names the place.
  static json parse(std::string_view text);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool has(std::string_view key) const;
  const json& operator[](std::string_view key) const;
  const json& operator[](std::size_t index) const { return items().at(index); }
  std::size_t size() const;

  /// Escaped lone surrogates \udc80 to \udcff are given back as the bytes that they stand for.
  const std::string& text() const { return get<std::string>(); }
  double number() const;
  bool boolean() const { return get<bool>(); }
  const array& items() const { return get<array>(); }

 private:
  friend class json_reader;

  template <class T>
  const T& get() const {
    if (const T* held = std::get_if<T>(&value_)) return *held;
    throw std::runtime_error("a JSON value of another type");
  }

  struct literal_number {
    std::string digits;
  };
  std::variant<std::monostate, bool, literal_number, std::string, array, object> value_;
};

}  // namespace lifering_test
