// Files of keys: one key a line, the first seals.
#pragma once

#include <lifering/error.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/secret_key.hpp"

namespace lifering::wire {

/// Keys that a node may hold at once. A sealed packet is tried with each of them, so their number
/// bounds what a stranger's packet costs.
inline constexpr std::size_t keys_max = 8;

inline constexpr std::size_t key_file_max = 4096;

/// Reads keys out of a file's text: one key a line in base64 or hexadecimal, with blanks around it
/// as may be; empty lines and lines that begin with `#` don't count. The problem names `path` and
/// the line, never what is in it.
std::optional<problem> parse_keys(const std::string& path, std::string_view text,
                                  std::vector<key_ptr>& out);

/// The same out of a file that only its owner may read. On a problem `out` is unchanged.
std::optional<problem> load_keys(const std::string& path, std::vector<key_ptr>& out);

}  // namespace lifering::wire
