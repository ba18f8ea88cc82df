// Sentences for people about values.
#pragma once

#include <chrono>
#include <cstddef>
#include <lifering/error.hpp>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace lifering::cluster_detail {

using base::quoted;
using base::quoted_start;

/// A sentence about a value that is too long.
problem too_long(errc code, std::string_view what, std::size_t size, std::size_t max);

/// "500 ms".
std::string in_words(std::chrono::milliseconds time);

}  // namespace lifering::cluster_detail
