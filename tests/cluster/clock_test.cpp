// Processes whose clock jumps. The clock is libfaketime's.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "cluster/key_file.hpp"
#include "cluster/stories.hpp"
#include "support/catch.hpp"

using namespace lifering_test;

namespace {

/// If not, says so in a line that skips the test.
bool can_set_clocks() {
  const bool can = std::filesystem::exists(FAKETIME_LIBRARY);
  if (!can) std::cout << "SKIPPED: libfaketime is not installed (apt-get install libfaketime)\n";
  return can;
}

/// A clock that processes may run by.
class settable_clock {
 public:
  settable_clock() : file_("faketime-" + std::to_string(getpid())) { set("+0"); }
  ~settable_clock() { std::remove(file_.c_str()); }
  settable_clock(const settable_clock&) = delete;
  settable_clock& operator=(const settable_clock&) = delete;

  void set(const std::string& offset) const {
    std::ofstream(file_ + ".new") << offset << '\n';
    REQUIRE(std::rename((file_ + ".new").c_str(), file_.c_str()) == 0);
  }

  /// The words before a command that runs by it. `timers_too`: not the time of day alone jumps.
  agent::words runner(bool timers_too = false) const {
    agent::words made{"/usr/bin/env", std::string("LD_PRELOAD=") + FAKETIME_LIBRARY,
                      "FAKETIME_TIMESTAMP_FILE=" + file_, "FAKETIME_NO_CACHE=1"};
    if (!timers_too) {
      made.insert(made.end(), {"FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"});
    }
    return made;
  }

 private:
  std::string file_;
};

}  // namespace

TEST_CASE("a clock that is set back or forward for one changes nothing", "[clock]") {
  if (!can_set_clocks()) return;
  const settable_clock clock;
  auto all = form_cluster(3);
  all.push_back(std::make_unique<agent>("n3", agent::words{all[0]->address()}, agent::words{},
                                        any_port(), clock.runner()));
  await_agreement(all, 4);
  const auto time_of = [&](const std::string& meta) {
    const auto since = all[3]->line_count();
    all[3]->ask("set-meta " + meta);
    return all[3]->wait_for_event("updated", "n3", since)["t"].number();
  };
  const double before = time_of("before");
  for (const auto& [offset, seconds] :
       std::vector<std::pair<std::string, double>>{{"-30d", -2592000}, {"+30d", 2592000}}) {
    INFO(offset);
    clock.set(offset);
    let_pass(std::chrono::seconds(2));
    CHECK(std::abs(time_of("at" + offset) - before - seconds) < 60);  // It did see that clock.
    await_agreement(all, 4);
  }
  check_stories(all, "n3", {"joined", "updated", "updated", "updated"});
  check_nothing_else(all, {"n3"});

  // One that starts with a clock of 1970 refuses nobody and is refused by nobody.
  clock.set("@1970-01-02 00:00:00");
  all.push_back(std::make_unique<agent>("n4", agent::words{all[0]->address()}, agent::words{},
                                        any_port(), clock.runner()));
  await_agreement(all, 5);
  check_stories(all, "n4", {"joined"});
  const auto address = all[4]->address();
  all[4]->kill();
  all[4] = std::make_unique<agent>("n4", agent::words{all[0]->address()}, agent::words{}, address);
  await_agreement(all, 5);
  await_changes(all, "n4", 2);
  check_nothing_else(all, {"n3", "n4"});
  const auto newcomer = std::move(all[4]);
  all.pop_back();
  check_stories(all, "n3", {"joined", "updated", "updated", "updated"});
}

TEST_CASE("a clock that jumps while members prove themselves keeps nobody out", "[clock]") {
  if (!can_set_clocks()) return;
  const key_file keys;
  const auto sealed = keys.required();
  const settable_clock clock;
  auto all = form_cluster(2, sealed);
  const agent::words first{all[0]->address()};
  all.push_back(std::make_unique<agent>("n2", first, sealed, any_port(), clock.runner(true)));
  await_agreement(all, 3);
  const agent::words jumping{all[2]->address()};
  agent::words guests;
  // Forward, as a virtual machine's may when it is moved; what timers run by never goes back.
  for (const std::string offset : {"+6", "+15", "+30", "+1h", "+3d"}) {
    INFO(offset);
    all.push_back(std::make_unique<agent>("late" + offset, jumping, sealed));
    clock.set(offset);
    await_agreement(all, 4);
    all[3]->own().write("leave\n");
    CHECK(all[3]->exit_code() == 0);
    guests.push_back(all[3]->name());
    all.pop_back();
    await_agreement(all, 3);
  }
  for (const auto& name : guests)
    check_stories(all, name, {"joined", "left"});
  check_nothing_else(all, guests);
}
