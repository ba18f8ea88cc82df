// Families of names. Random ones come from a seeded generator, the same on every machine.
#include "names.hpp"

#include <array>
#include <cstdio>
#include <random>

namespace ring_tool {

namespace {

std::string letters(std::mt19937& random, std::size_t count, std::string_view alphabet) {
  std::string text;
  while (text.size() < count) {
    text += alphabet[random() % alphabet.size()];
  }
  return text;
}

std::string make_name(name_family family, std::uint32_t i, std::uint32_t set,
                      std::mt19937& random) {
  std::array<char, 40> text{};
  switch (family) {
    case name_family::ip:
      std::snprintf(text.data(), text.size(), "10.%u.%u.%u:6379", (set + i / 62500) % 256,
                    i / 250 % 250, i % 250);
      return text.data();
    case name_family::padded:
      std::snprintf(text.data(), text.size(), "node-%04u", i + set * 10000);
      return text.data();
    case name_family::pod: {
      constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
      const std::string first = letters(random, 9, alphabet);
      return "cache-" + first + "-" + letters(random, 5, alphabet);
    }
    case name_family::uuid: {
      std::string name = letters(random, 32, "0123456789abcdef");
      for (const std::size_t dash : {8U, 13U, 18U, 23U}) {
        name.insert(dash, "-");
      }
      return name;
    }
  }
  return {};
}

}  // namespace

std::optional<name_family> parse_family(std::string_view word) {
  constexpr std::array<std::string_view, 4> words{"ip", "pod", "padded", "uuid"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) {
      return static_cast<name_family>(i);
    }
  }
  return std::nullopt;
}

std::vector<std::string> make_names(name_family family, std::uint32_t count, std::uint32_t set) {
  std::mt19937 random{set};
  std::vector<std::string> names;
  names.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    names.push_back(make_name(family, i, set, random));
  }
  return names;
}

}  // namespace ring_tool
