// What the agent is told on stdin.
#pragma once

#include <lifering/cluster.hpp>
#include <lifering/keyring.hpp>
#include <string>
#include <string_view>

/// What to do after a command.
enum class next_step { go_on, leave, quit };

/// Answers one command with one line, which is appended to `answers`. `leave` and `quit` are left
/// to the caller.
next_step obey(lifering::cluster& cluster, lifering::keyring& keys, std::string_view line,
               std::string& answers);
