#include "keys.hpp"

#include <unistd.h>

#include <array>
#include <span>

#include "json.hpp"

namespace {

using lifering::keyring;

std::string outcome_line(const std::optional<lifering::problem>& found) {
  return found ? json_object().text("error", found->text).line() : "{\"ok\":true}\n";
}

/// What is added is a key or the path of a file of keys. A mistyped key looks like a path that
/// leads nowhere, so of such a text nothing is repeated.
std::string add_line(keyring& keys, std::string_view what) {
  if (what.empty()) {
    return json_object().text("error", "key add takes a key or the path of a key file").line();
  }
  std::string path(what);
  const bool is_file = ::access(path.c_str(), F_OK) == 0;
  if (is_file) return outcome_line(keys.add_file(path));
  lifering::wipe(path);  // It may be the key.
  auto found = keys.add(what);
  if (found && found->text.starts_with("this is no key")) {
    found->text =
        "this is neither a key, which is 64 hexadecimal digits or 44 characters of "
        "base64, nor a file that is there";
  }
  return outcome_line(found);
}

std::string keys_line(const keyring& keys) {
  std::string list = "[";
  for (const auto& id : keys.ids()) {
    if (list.size() > 1) list += ',';
    list += json_string(id);
  }
  return json_object().raw("keys", list + ']').text("seal", to_string(keys.mode())).line();
}

/// A word that was not understood, unless it is so long that it might be a key.
std::string not_word(std::string_view word) {
  return word.empty() || word.size() > 16 ? "" : ", not \"" + std::string(word) + '"';
}

std::string key_line(keyring& keys, std::string_view rest) {
  const auto space = rest.find(' ');
  const auto what = rest.substr(0, space);
  const auto value = space == std::string_view::npos ? "" : rest.substr(space + 1);
  if (what == "add") return add_line(keys, value);
  // An id may have been mistaken for the key itself, which the answer must not repeat.
  const bool is_id = value.size() <= 16;
  if (what == "use" || what == "remove") {
    if (!is_id) return json_object().text("error", "a key's id has 16 digits; see keys").line();
    return outcome_line(what == "use" ? keys.use(value) : keys.remove(value));
  }
  return json_object()
      .text("error", "key takes add, use or remove, and what" + not_word(what))
      .line();
}

std::string seal_line(keyring& keys, std::string_view text) {
  const auto mode = lifering::parse_seal_mode(text);
  if (!mode) {
    return json_object().text("error", "seal takes off, accept or require" + not_word(text)).line();
  }
  return outcome_line(keys.set_mode(*mode));
}

}  // namespace

void generate_key_to(output& out) {
  std::array<char, lifering::key_text_size + 1> line{};
  lifering::generate_key(std::span(line).first<lifering::key_text_size>());
  line.back() = '\n';
  out.write({line.data(), line.size()});
  lifering::wipe(line);
}

std::optional<std::string> answer_about_keys(keyring& keys, std::string_view command,
                                             std::string_view rest) {
  if (command == "key") return key_line(keys, rest);
  if (command == "keys") return keys_line(keys);
  if (command == "seal") return seal_line(keys, rest);
  return std::nullopt;
}
