// A vocabulary for lifering-agent as separate processes: start, ask, see, kill.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/json.hpp"
#include "cluster/process.hpp"
#include "support/eventually.hpp"

namespace lifering_test {

/// How long a test waits for what must come. Generous: ten processes may share one busy core.
inline constexpr std::chrono::seconds agent_patience{60};

/// Where an agent listens unless told otherwise: any free port of an address of loopback that the
/// processes of no other test use, who could take an agent's port between two of its lives.
std::string any_port();

/// One agent of cluster "test" on loopback with the local profile; with that for a LAN, which is
/// more patient, under a sanitizer.
class agent {
 public:
  using words = std::vector<std::string>;

  /// Starts it and waits until it says that it is ready. `more` are further words, of which the
  /// last of a kind counts; `bind` may name the port that an earlier life had, and is waited for if
  /// somebody has taken it meanwhile; `runner` is a command that runs the words after it, such as
  /// /usr/bin/env with NAME=VALUE words.
  agent(const std::string& name, const words& seeds = {}, const words& more = {},
        const std::string& bind = any_port(), const words& runner = {});

  const std::string& name() const { return name_; }
  const std::string& address() const { return address_; }
  process& own() { return *process_; }

  /// The answer to one command.
  json ask(const std::string& command);

  /// One of its counters or gauges.
  double stat(const std::string& name) { return ask("stats")["stats"][name].number(); }

  std::string fingerprint() { return ask("fingerprint")["fingerprint"].text(); }
  std::size_t member_count() { return ask("members")["members"].size(); }

  /// The name of each member it sees, and which life of that name.
  std::map<std::string, double> lives();

  std::string owner(const std::string& key) { return ask("owner " + key)["owner"].text(); }

  /// Waits for an event about a member after the first `since` lines; throws if none comes.
  json wait_for_event(const std::string& kind, const std::string& member, std::size_t since = 0);

  /// The kinds of all events about a member so far, in order.
  words story_of(const std::string& member);

  /// The same without doubts, which a busy machine may raise and which move nothing.
  words changes_of(const std::string& member);

  /// The same for every member of whom anything was told.
  std::map<std::string, words> all_changes();

  /// How many events of that kind about that member there were so far.
  std::size_t count_events(const std::string& kind, const std::string& member);

  std::size_t line_count() { return process_->lines().size(); }

  /// Ends it without any goodbye.
  void kill();

  int exit_code();

 private:
  std::string name_;
  std::unique_ptr<process> process_;
  std::string address_;
};

using agents = std::vector<std::unique_ptr<agent>>;

/// `count` agents named n0, n1, ... that have joined through the first, all seeing all.
agents form_cluster(std::size_t count, const agent::words& more = {});

/// Waits until all of them see the same lives of `count` members and hold the same ring; throws if
/// they don't. A ring doesn't tell lives of a name apart: who was restarted is in it all the time.
void await_agreement(const agents& all, std::size_t count);

}  // namespace lifering_test
