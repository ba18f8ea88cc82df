// Text for people: values that no bytes in them can disguise.
#pragma once

#include <string>
#include <string_view>

namespace lifering::base {

/// The text in double quotes; bytes outside printable ASCII, the quote and the backslash as \xHH,
/// and after 64 bytes only how many there are. For sentences and logs, not for machines.
std::string quoted(std::string_view text);

/// The same without a word on how many bytes there are, for sentences that say so themselves.
std::string quoted_start(std::string_view text);

/// The text in one line: control bytes as \xHH, whatever else there is as it is.
std::string in_one_line(std::string_view text);

}  // namespace lifering::base
