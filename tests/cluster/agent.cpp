#include "cluster/agent.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <set>
#include <stdexcept>

#include "support/sanitized.hpp"

namespace lifering_test {
namespace {

std::vector<std::string> command_line(const std::string& name, const agent::words& seeds,
                                      const agent::words& more, const std::string& bind,
                                      const agent::words& runner) {
  // Under a sanitizer a process may stand still for as long as the local profile takes to fail it.
  constexpr const char* profile = is_sanitized ? "lan" : "local";
  agent::words result = runner;
  for (const auto* word :
       {LIFERING_AGENT, "--cluster", "test", "--log", "warning", "--profile", profile, "--name"}) {
    result.push_back(word);
  }
  result.insert(result.end(), {name, "--bind", bind});
  for (const auto& seed : seeds) {
    result.push_back("--join");
    result.push_back(seed);
  }
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

bool is_answer(const std::string& line) {
  return !line.starts_with("{\"event\":");
}

bool is_event(const std::string& line, const std::string& kind, const std::string& member) {
  if (is_answer(line)) return false;
  const json event = json::parse(line);
  return event["event"].text() == kind && event["member"]["name"].text() == member;
}

bool is_doubt(const std::string& kind) {
  return kind == "suspected" || kind == "recovered";
}

}  // namespace

std::string any_port() {
#if defined(__linux__)
  const auto number = static_cast<unsigned>(::getpid());  // 127/8 is loopback as a whole.
  return "127.0." + std::to_string(1 + number / 254 % 254) + '.' +
         std::to_string(1 + number % 254) + ":0";
#else
  return "127.0.0.1:0";
#endif
}

agent::agent(const std::string& name, const words& seeds, const words& more,
             const std::string& bind, const words& runner)
    : name_(name) {
  const auto is_ready = [](const std::string& line) {
    return line.starts_with("{\"event\":\"ready\"");
  };
  std::optional<std::string> ready;
  // A stream of a neighbour may have got the port of an earlier life, for as long as it lasts.
  const auto is_taken = [&] { return process_->errors().find("is in use") != std::string::npos; };
  eventually([&] {
    process_ = std::make_unique<process>(command_line(name, seeds, more, bind, runner));
    ready = process_->wait_for_line(is_ready, agent_patience);
    return ready || !is_taken();
  });
  if (!ready) throw std::runtime_error(name + " is not ready; it said: " + process_->errors());
  address_ = json::parse(*ready)["address"].text();
}

json agent::ask(const std::string& command) {
  const std::size_t before = line_count();
  process_->write(command + '\n');
  const auto answer = process_->wait_for_line(is_answer, agent_patience, before);
  if (!answer) {
    throw std::runtime_error(name_ + " does not answer " + command +
                             "; it said: " + process_->errors());
  }
  return json::parse(*answer);
}

std::map<std::string, double> agent::lives() {
  std::map<std::string, double> result;
  const json answer = ask("members");
  for (const json& each : answer["members"].items())
    result.emplace(each["name"].text(), each["epoch"].number());
  return result;
}

json agent::wait_for_event(const std::string& kind, const std::string& member, std::size_t since) {
  const auto line = process_->wait_for_line(
      [&](const std::string& each) { return is_event(each, kind, member); }, agent_patience, since);
  if (line) return json::parse(*line);
  std::string story;
  for (const auto& each : process_->lines())
    story += "\n  " + each;
  throw std::runtime_error(name_ + " never said: " + kind + ' ' + member + "; it said:" + story);
}

agent::words agent::story_of(const std::string& member) {
  words kinds;
  for (const auto& line : process_->lines()) {
    if (is_answer(line)) continue;
    const json event = json::parse(line);
    if (event.has("member") && event["member"]["name"].text() == member) {
      kinds.push_back(event["event"].text());
    }
  }
  return kinds;
}

agent::words agent::changes_of(const std::string& member) {
  auto story = story_of(member);
  std::erase_if(story, is_doubt);
  return story;
}

std::map<std::string, agent::words> agent::all_changes() {
  std::map<std::string, words> all;
  for (const auto& line : process_->lines()) {
    if (is_answer(line)) continue;
    const json event = json::parse(line);
    if (!event.has("member") || is_doubt(event["event"].text())) continue;
    all[event["member"]["name"].text()].push_back(event["event"].text());
  }
  return all;
}

std::size_t agent::count_events(const std::string& kind, const std::string& member) {
  std::size_t count = 0;
  for (const auto& line : process_->lines())
    count += is_event(line, kind, member) ? 1U : 0U;
  return count;
}

void agent::kill() {
  process_->signal(SIGKILL);
  process_->wait(agent_patience);
}

int agent::exit_code() {
  const auto code = process_->wait(agent_patience);
  if (!code) throw std::runtime_error(name_ + " does not end");
  // A sanitizer's report, most likely: whoever reads the failed check wants it.
  if (*code > 2 && *code <= 128) std::cerr << name_ << " said: " << process_->errors() << '\n';
  return *code;
}

agents form_cluster(std::size_t count, const agent::words& more) {
  agents all;
  for (std::size_t i = 0; i < count; ++i) {
    const agent::words seeds = i == 0 ? agent::words{} : agent::words{all[0]->address()};
    all.push_back(std::make_unique<agent>("n" + std::to_string(i), seeds, more));
  }
  await_agreement(all, count);
  return all;
}

void await_agreement(const agents& all, std::size_t count) {
  const auto agree = [&] {
    std::set<std::string> fingerprints;
    for (const auto& each : all)
      fingerprints.insert(each->fingerprint());
    // Lists are long; they are worth looking at once the rings are the same.
    if (fingerprints.size() != 1) return false;
    std::set<std::map<std::string, double>> views;
    for (const auto& each : all)
      views.insert(each->lives());
    return views.size() == 1 && views.begin()->size() == count;
  };
  if (!eventually(agree)) throw std::runtime_error("the agents do not agree");
}

}  // namespace lifering_test
