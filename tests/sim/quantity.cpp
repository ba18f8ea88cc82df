#include "sim/quantity.hpp"

#include <cstdint>
#include <utility>

namespace lifering::sim {
namespace {

/// A decimal as a whole number of 10^-places.
std::optional<std::int64_t> parse_decimal(std::string_view text, unsigned places) {
  std::int64_t value = 0;
  bool has_point = false;
  unsigned seen = 0;
  if (text.empty() || text.size() > 16 || text.front() == '.' || text.back() == '.') {
    return std::nullopt;
  }
  for (const char c : text) {
    if (c == '.' && !has_point) {
      has_point = true;
    } else if (c >= '0' && c <= '9' && (!has_point || seen < places)) {
      if (value > INT64_MAX / 100) return std::nullopt;
      value = value * 10 + (c - '0');
      if (has_point) ++seen;
    } else {
      return std::nullopt;
    }
  }
  for (; seen < places; ++seen) {
    if (value > INT64_MAX / 100) return std::nullopt;
    value *= 10;
  }
  return value;
}

std::string decimal_text(std::int64_t value, std::int64_t one) {
  std::string text = std::to_string(value / one);
  if (const std::int64_t rest = value % one; rest != 0) {
    std::string places = std::to_string(one + rest);  // The leading 1 keeps zeros after the point.
    places.front() = '.';
    text += places;
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

struct unit {
  std::string_view name;
  std::int64_t nanoseconds;
  unsigned places;  ///< Down to the nanosecond, where the unit is decimal.
};
constexpr unit units[] = {
    // "ms" before "m" and "s": the longer suffix is tried first.
    {"ns", 1, 0},
    {"us", 1'000, 3},
    {"ms", 1'000'000, 6},
    {"s", 1'000'000'000, 9},
    {"m", 60'000'000'000, 0},
    {"h", 3'600'000'000'000, 0},
};

}  // namespace

std::optional<base::duration> parse_duration(std::string_view text) {
  if (text == "0") return base::duration::zero();
  for (const auto& [name, nanoseconds, places] : units) {
    if (!text.ends_with(name)) continue;
    const auto value = parse_decimal(text.substr(0, text.size() - name.size()), places);
    if (!value) return std::nullopt;
    if (places > 0) return base::duration{*value};
    if (*value > INT64_MAX / nanoseconds) return std::nullopt;
    return base::duration{*value * nanoseconds};
  }
  return std::nullopt;
}

std::string to_string(base::duration value) {
  const std::int64_t count = value.count();
  if (count < 0) return "-" + to_string(-value);
  if (count == 0 || count >= 1'000'000'000) return decimal_text(count, 1'000'000'000) + "s";
  if (count >= 1'000'000) return decimal_text(count, 1'000'000) + "ms";
  if (count >= 1'000) return decimal_text(count, 1'000) + "us";
  return std::to_string(count) + "ns";
}

std::optional<ppm> parse_probability(std::string_view text) {
  const auto value = parse_decimal(text, 6);
  if (!value || *value > certain) return std::nullopt;
  return static_cast<ppm>(*value);
}

std::string probability_text(ppm value) {
  return decimal_text(value, certain);
}

}  // namespace lifering::sim
