#include "cluster/text.hpp"

namespace lifering::cluster_detail {

std::string quoted(std::string_view text) {
  constexpr std::size_t shown_max = 64;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text.substr(0, shown_max)) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += "\\x";
      result += digits[byte >> 4U];
      result += digits[byte & 15U];
    }
  }
  if (text.size() <= shown_max) return result + '"';
  return result + "...\" (" + std::to_string(text.size()) + " bytes)";
}

problem too_long(errc code, std::string_view what, std::size_t size, std::size_t max) {
  return {code, "the " + std::string(what) + " has " + std::to_string(size) + " bytes; at most " +
                    std::to_string(max) + " would do"};
}

std::string in_words(std::chrono::milliseconds time) {
  return std::to_string(time.count()) + " ms";
}

}  // namespace lifering::cluster_detail
