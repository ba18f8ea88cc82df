// A weight: how much of the ring a node owns, measured against the other nodes.
//
// Weights are fixed-point thousandths, so that every machine computes the same shares: no floating
// point takes part in a placement. As text a weight is a decimal with at most three places: "1",
// "0.5", "12.25".
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lifering {

/// A share against the others: a node of weight 2 owns twice what a node of weight 1 owns.
///
/// Either 0 (a member that owns nothing, such as an observer) or 0.01 to 100; an object of this
/// type never holds anything else. The default is 1. Choose weights by capacity: memory for a
/// cache, cores for a router. A plain value; distinct objects are safe to use from any threads.
class weight {
 public:
  /// The bounds in thousandths. Between 0 and `thousandths_min` there is nothing: so small a share
  /// would round to no points at all, and a member that shall own nothing says 0.
  static constexpr std::uint32_t thousandths_min = 10;
  static constexpr std::uint32_t thousandths_max = 100'000;

  /// Weight 1, which is right wherever all instances are alike.
  constexpr weight() noexcept = default;

  /// From thousandths: 500 is 0.5. Nothing if the value is neither 0 nor within the bounds.
  static constexpr std::optional<weight> from_thousandths(std::uint64_t thousandths) noexcept {
    if (thousandths != 0 && (thousandths < thousandths_min || thousandths > thousandths_max)) {
      return std::nullopt;
    }
    weight result;
    result.thousandths_ = static_cast<std::uint32_t>(thousandths);
    return result;
  }

  /// From a decimal: digits, then perhaps a point and one to three digits. Nothing for any other
  /// text (a sign, an exponent, a blank, a fourth place) and for values out of bounds.
  static constexpr std::optional<weight> parse(std::string_view text) noexcept {
    std::uint64_t value = 0;
    unsigned places = 0;
    bool has_point = false;
    if (text.empty() || text.size() > 10 || text.front() == '.' || text.back() == '.') {
      return std::nullopt;
    }
    for (const char c : text) {
      if (c == '.' && !has_point) {
        has_point = true;
      } else if (c >= '0' && c <= '9' && places < 3) {
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
        places += has_point ? 1U : 0U;
      } else {
        return std::nullopt;
      }
    }
    for (; places < 3; ++places) {
      value *= 10;
    }
    return from_thousandths(value);
  }

  constexpr std::uint32_t thousandths() const noexcept { return thousandths_; }

  /// A node of weight 0 is known to the ring and owns no key.
  constexpr bool owns_nothing() const noexcept { return thousandths_ == 0; }

  friend constexpr auto operator<=>(const weight&, const weight&) noexcept = default;

 private:
  std::uint32_t thousandths_ = 1000;
};

/// The shortest decimal that parse() reads back: "1", "0.5", "12.345".
inline std::string to_string(weight value) {
  std::string text = std::to_string(value.thousandths() / 1000);
  if (const std::uint32_t rest = value.thousandths() % 1000; rest != 0) {
    std::string places = std::to_string(1000 + rest);  // The leading 1 keeps zeros after the point.
    places.front() = '.';
    text += places;
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

}  // namespace lifering
