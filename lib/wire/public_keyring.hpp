// From the keyring that users hold to the one that packets are sealed with.
#pragma once

#include <lifering/keyring.hpp>
#include <memory>

#include "wire/keyring.hpp"

namespace lifering {

struct keyring_access {
  static std::shared_ptr<const wire::keyring> inside(const keyring& of) { return of.inside_; }
};

}  // namespace lifering
