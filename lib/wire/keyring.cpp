#include "wire/keyring.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"

namespace lifering::wire {
namespace {

using found_problem = std::optional<problem>;

auto find(std::vector<key_ptr>& keys, std::string_view id) {
  return std::find_if(keys.begin(), keys.end(),
                      [&](const key_ptr& key) { return key->id() == id; });
}

found_problem wrong(std::string text) {
  return problem{errc::invalid_option, std::move(text)};
}

found_problem append(std::vector<key_ptr>& keys, key_ptr key) {
  if (keys.size() == keys_max) {
    return wrong(std::to_string(keys_max) + " keys are held, which is the most; remove one first");
  }
  keys.push_back(std::move(key));
  return std::nullopt;
}

found_problem unknown(std::string_view id) {
  return wrong("no key with the id " + base::quoted(id) + " is held");
}

}  // namespace

keyring::keyring(seal_mode mode, std::vector<key_ptr> keys) : state_(sealing{}) {
  for (auto& key : keys)
    LIFERING_CHECK(!add(std::move(key)));
  LIFERING_CHECK(!set_mode(mode));
}

template <class Change>
std::optional<problem> keyring::change(Change change) {
  found_problem found;
  state_.update([&](sealing& next) {
    found = change(next);
    return !found;
  });
  return found;
}

std::optional<problem> keyring::add(key_ptr key) {
  LIFERING_CHECK(key);
  return change([&](sealing& next) -> found_problem {
    if (find(next.keys, key->id()) != next.keys.end()) {
      return wrong("the key " + key->id() + " is held already");
    }
    return append(next.keys, std::move(key));
  });
}

std::optional<problem> keyring::add_missing(std::vector<key_ptr> keys) {
  return change([&](sealing& next) -> found_problem {
    for (auto& key : keys) {
      LIFERING_CHECK(key);
      if (find(next.keys, key->id()) != next.keys.end()) continue;
      if (auto found = append(next.keys, std::move(key))) return found;
    }
    return std::nullopt;
  });
}

std::optional<problem> keyring::use(std::string_view id) {
  return change([&](sealing& next) -> found_problem {
    const auto key = find(next.keys, id);
    if (key == next.keys.end()) return unknown(id);
    std::rotate(next.keys.begin(), key, key + 1);
    return std::nullopt;
  });
}

std::optional<problem> keyring::remove(std::string_view id) {
  return change([&](sealing& next) -> found_problem {
    const auto key = find(next.keys, id);
    if (key == next.keys.end()) return unknown(id);
    if (next.seals() && key == next.keys.begin()) {
      return wrong("the key " + (*key)->id() + " seals; use another one first");
    }
    next.keys.erase(key);
    return std::nullopt;
  });
}

std::optional<problem> keyring::set_mode(seal_mode mode) {
  return change([&](sealing& next) -> found_problem {
    if (mode != seal_mode::off && next.keys.empty()) {
      return wrong("sealing needs a key, and none is held");
    }
    next.mode = mode;
    return std::nullopt;
  });
}

}  // namespace lifering::wire
