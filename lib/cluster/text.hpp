// Text for people: values in quotes that no value can break out of.
#pragma once

#include <chrono>
#include <cstddef>
#include <lifering/error.hpp>
#include <string>
#include <string_view>

namespace lifering::cluster_detail {

/// The text in double quotes; bytes outside printable ASCII, the quote and the backslash as \xHH,
/// and after 64 bytes only how many there are. For sentences and logs, not for machines.
std::string quoted(std::string_view text);

/// A sentence about a value that is too long.
problem too_long(errc code, std::string_view what, std::size_t size, std::size_t max);

/// "500 ms".
std::string in_words(std::chrono::milliseconds time);

}  // namespace lifering::cluster_detail
