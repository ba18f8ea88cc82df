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

void check_nothing_else(const agents& all, const agent::words& but) {
  for (const auto& by : all) {
    std::map<std::string, agent::words> expected;
    for (const auto& about : all) {
      if (about != by) expected[about->name()] = {"joined"};
    }
    const auto leave_out = [&](auto& stories) {
      for (const auto& name : but)
        stories.erase(name);
    };
    leave_out(expected);
    const auto told = [&] {
      auto stories = by->all_changes();
      leave_out(stories);
      return stories;
    };
    eventually([&] { return told().size() >= expected.size(); });
    const auto stories = told();
    INFO(by->name() << " said:" << (stories == expected ? "" : history_of(*by)));
    CHECK(stories == expected);
  }
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
