// <lifering/keyring.hpp>: the users' face of wire's keyring.
#include "wire/public_keyring.hpp"

#include <sodium.h>

#include <algorithm>

#include "base/check.hpp"
#include "wire/key_file.hpp"
#include "wire/secret_key.hpp"

namespace lifering {

static_assert(keyring::keys_max == wire::keys_max);

std::string_view to_string(seal_mode mode) noexcept {
  switch (mode) {
    case seal_mode::off:
      return "off";
    case seal_mode::accept:
      return "accept";
    case seal_mode::require:
      return "require";
  }
  return "unknown";
}

std::optional<seal_mode> parse_seal_mode(std::string_view text) noexcept {
  for (const auto mode : {seal_mode::off, seal_mode::accept, seal_mode::require}) {
    if (text == to_string(mode)) return mode;
  }
  return std::nullopt;
}

keyring::keyring() : inside_(std::make_shared<wire::keyring>()) {}
keyring::~keyring() = default;

std::optional<problem> keyring::add(std::string_view key) {
  auto made = wire::secret_key::from_text(key);
  if (!made) {
    return problem{errc::invalid_option,
                   "this is no key; 64 hexadecimal digits or 44 characters of base64 are one"};
  }
  return inside_->add(std::move(made));
}

std::optional<problem> keyring::add_file(const std::string& path) {
  std::vector<wire::key_ptr> keys;
  if (auto found = wire::load_keys(path, keys)) return found;
  return inside_->add_missing(std::move(keys));
}

std::optional<problem> keyring::use(std::string_view id) {
  return inside_->use(id);
}

std::optional<problem> keyring::remove(std::string_view id) {
  return inside_->remove(id);
}

std::optional<problem> keyring::set_mode(seal_mode mode) {
  return inside_->set_mode(mode);
}

seal_mode keyring::mode() const {
  return inside_->snapshot()->mode;
}

std::vector<std::string> keyring::ids() const {
  std::vector<std::string> result;
  for (const auto& key : inside_->snapshot()->keys)
    result.push_back(key->id());
  return result;
}

void generate_key(std::span<char, key_text_size> text) {
  const auto made = wire::secret_key::generate()->to_text();
  LIFERING_CHECK(made.view().size() == text.size());
  std::copy(made.view().begin(), made.view().end(), text.begin());
}

void wipe(std::span<char> secret) noexcept {
  sodium_memzero(secret.data(), secret.size());
}

}  // namespace lifering
