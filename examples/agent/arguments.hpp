// The command line of lifering-agent.
#pragma once

#include <lifering/keyring.hpp>
#include <lifering/options.hpp>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// What to run. `options.keys` is set, so that keys can be given at run time too.
struct arguments {
  lifering::options options;
  std::vector<std::string> seeds;
  bool quit_on_eof = false;
  std::optional<lifering::seal_mode> seal;  ///< As asked for; the keyring has it by then.
};

/// Text to print instead of running.
struct answer {
  std::string text;
};

/// Why nothing can be run, in one sentence.
struct mistake {
  std::string sentence;
};

/// Reads the words after the program's name, and checks all that can be checked before the start.
std::variant<arguments, answer, mistake> read_arguments(std::span<const char* const> words);
