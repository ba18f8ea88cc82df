// Bytes as text: \xHH for what a terminal or a tab-separated line can't carry, and hexadecimal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ring_tool {

/// Bytes outside 0x21..0x7e and the backslash become \xHH.
std::string escape(std::string_view bytes);

/// Control bytes become \xHH: a sentence stays one line, whatever it is about.
std::string in_one_line(std::string_view sentence);

/// The inverse of escape(); nothing if a backslash doesn't begin \xHH.
std::optional<std::string> unescape(std::string_view text);

std::string to_hex(std::string_view bytes);

/// Nothing unless the text is pairs of hexadecimal digits.
std::optional<std::string> from_hex(std::string_view text);

/// Inside the quotes of a JSON string, or between the tags of XML; of printable text.
std::string in_json(std::string_view text);
std::string in_xml(std::string_view text);

}  // namespace ring_tool
