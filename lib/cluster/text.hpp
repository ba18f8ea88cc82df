// Text for people: values in quotes that no value can break out of.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace lifering::cluster_detail {

/// The text in double quotes; bytes outside printable ASCII, the quote and the backslash as \xHH,
/// and after 64 bytes only how many there are. For sentences and logs, not for machines.
std::string quoted(std::string_view text);

/// "500 ms".
std::string in_words(std::chrono::milliseconds time);

}  // namespace lifering::cluster_detail
