// The command line of lifering-agent.
#pragma once

#include <lifering/options.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// What to run.
struct arguments {
  lifering::options options;
  std::vector<std::string> seeds;
  bool quit_on_eof = false;
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
