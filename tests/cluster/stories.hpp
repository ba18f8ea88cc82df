// What agents were told of each other, checked to the last event.
#pragma once

#include <chrono>
#include <string>

#include "cluster/agent.hpp"

namespace lifering_test {

/// What everybody but itself was told of a member, doubts apart, is this, once they were told as
/// many changes: a view shows a change before its event is told.
void check_stories(const agents& all, const std::string& about, const agent::words& story);

/// Of everybody but those named all others were told once that it joined, itself nothing, and of
/// nobody else anything. Nobody at all was told that it has failed or left itself.
void check_nothing_else(const agents& all, const agent::words& but = {});

/// The same, but news of what they say of themselves may have been told too.
void check_updates_alone(const agents& all, const agent::words& but = {});

/// Waits until all but itself were told of that many changes of a member.
void await_changes(const agents& by, const std::string& about, std::size_t count);

/// Nobody was told that it has failed or left itself.
void check_selves(const agents& all);

/// Time that must pass whatever happens: the length of a fault, or for what must not come.
void let_pass(std::chrono::milliseconds time);

}  // namespace lifering_test
