#include "cluster/stories.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/catch.hpp"

namespace lifering_test {
namespace {

/// All that it said of members, with the seconds before now: what a failed check wants to know.
std::string history_of(agent& of) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::ostringstream text;
  text << std::fixed << std::setprecision(2);
  for (const auto& line : of.own().lines()) {
    if (!line.starts_with("{\"event\":")) continue;
    const json event = json::parse(line);
    if (!event.has("member")) continue;
    text << "\n  " << event["t"].number() - std::chrono::duration<double>(now).count() << ' '
         << event["event"].text() << ' ' << event["member"]["name"].text();
  }
  return text.str();
}

}  // namespace

void await_changes(const agents& by, const std::string& about, std::size_t count) {
  for (const auto& each : by) {
    if (each->name() == about) continue;
    if (!eventually([&] { return each->changes_of(about).size() >= count; })) {
      throw std::runtime_error(each->name() + " does not see what happens to " + about + ':' +
                               history_of(*each));
    }
  }
}

void check_stories(const agents& all, const std::string& about, const agent::words& story) {
  await_changes(all, about, story.size());
  for (const auto& each : all) {
    if (each->name() == about) continue;
    const auto told = each->changes_of(about);
    INFO(each->name() << " about " << about);
    INFO(each->name() << " said:" << (told == story ? "" : history_of(*each)));
    CHECK(told == story);
  }
}

namespace {

/// What it was told of everybody but those named.
std::map<std::string, agent::words> stories_of(agent& by, const agent::words& but) {
  auto stories = by.all_changes();
  for (const auto& name : but)
    stories.erase(name);
  return stories;
}

/// Everybody but those named has joined for everybody else.
std::map<std::string, agent::words> arrivals(const agents& all, const agent& by,
                                             const agent::words& but) {
  std::map<std::string, agent::words> stories;
  for (const auto& about : all) {
    if (about.get() != &by) stories[about->name()] = {"joined"};
  }
  for (const auto& name : but)
    stories.erase(name);
  return stories;
}

void check_arrivals(const agents& all, const agent::words& but, bool with_updates) {
  for (const auto& by : all) {
    const auto expected = arrivals(all, *by, but);
    eventually([&] { return stories_of(*by, but).size() >= expected.size(); });
    auto stories = stories_of(*by, but);
    if (with_updates) {
      for (auto& [about, story] : stories)
        std::erase(story, "updated");
      std::erase_if(stories, [](const auto& each) { return each.second.empty(); });
    }
    INFO(by->name() << " said:" << (stories == expected ? "" : history_of(*by)));
    CHECK(stories == expected);
  }
  check_selves(all);
}

}  // namespace

void check_nothing_else(const agents& all, const agent::words& but) {
  check_arrivals(all, but, false);
}

void check_updates_alone(const agents& all, const agent::words& but) {
  check_arrivals(all, but, true);
}

void check_selves(const agents& all) {
  for (const auto& each : all) {
    CHECK(each->count_events("failed", each->name()) == 0);
    CHECK(each->count_events("left", each->name()) == 0);
  }
}

void let_pass(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
}

}  // namespace lifering_test
