#include "wire/key_file.hpp"

#include <algorithm>
#include <utility>

#include "base/secret_file.hpp"
#include "base/text.hpp"

namespace lifering::wire {
namespace {

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = line.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(blanks) - first + 1);
}

problem wrong(const std::string& path, const std::string& what) {
  return {errc::invalid_option, "the key file " + base::quoted(path) + " " + what};
}

}  // namespace

std::optional<problem> parse_keys(const std::string& path, std::string_view text,
                                  std::vector<key_ptr>& out) {
  std::vector<key_ptr> keys;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const auto where = "in line " + std::to_string(number);
    auto key = secret_key::from_text(line);
    if (!key) {
      return wrong(path, "has no key " + where + ": 44 characters of base64 or 64 hexadecimal " +
                             "digits are one");
    }
    const bool is_known = std::any_of(keys.begin(), keys.end(),
                                      [&](const key_ptr& k) { return k->id() == key->id(); });
    if (is_known) return wrong(path, "repeats the key " + key->id() + " " + where);
    if (keys.size() == keys_max) {
      return wrong(path, "has more than " + std::to_string(keys_max) + " keys");
    }
    keys.push_back(std::move(key));
  }
  if (keys.empty()) return wrong(path, "holds no key");
  out = std::move(keys);
  return std::nullopt;
}

std::optional<problem> load_keys(const std::string& path, std::vector<key_ptr>& out) {
  if (secret_key::from_text(path)) {
    return problem{errc::invalid_option,
                   "this is a key; the path of a file that holds it would be right"};
  }
  base::secret_text text;
  if (auto found = base::read_secret_file(path, key_file_max, text)) return found;
  return parse_keys(path, text.view(), out);
}

}  // namespace lifering::wire
