// Small helpers for reading and writing single fields.
#pragma once

#include <cstddef>
#include <string>

#include "base/check.hpp"

namespace lifering::wire {

/// A text on its way out. Over its limit it would be dropped by every receiver, so the program that
/// made it is wrong.
inline const std::string& checked(const std::string& value, std::size_t limit) {
  LIFERING_CHECK(value.size() <= limit);
  return value;
}

}  // namespace lifering::wire
