// The agent's keys: made, and changed while it runs. No key is ever printed but by keygen.
#pragma once

#include <lifering/keyring.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "output.hpp"

/// Writes a new key as a line.
void generate_key_to(output& out);

/// The answer to `key ...`, `keys` and `seal ...`; nothing for another command.
std::optional<std::string> answer_about_keys(lifering::keyring& keys, std::string_view command,
                                             std::string_view rest);
