// Processes that stand still for long, and processes whose clock jumps.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "cluster/key_file.hpp"
#include "support/catch.hpp"

using namespace lifering_test;

namespace {

/// Time that must pass whatever happens; nothing else is waited for by sleeping.
void let_pass(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
}

/// Nobody ever said that one of these has failed.
void check_never_blamed(const agents& all, const agent::words& names) {
  for (const auto& each : all) {
    for (const auto& name : names) {
      INFO(each->name() << " about " << name);
      CHECK(each->count_events("failed", name) == 0);
      CHECK(each->count_events("left", name) == 0);
    }
  }
}

#if defined(FAKETIME_LIBRARY)
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
#endif

}  // namespace

TEST_CASE("one that slept for 20 s is failed and comes back, and nobody else is ever blamed",
          "[pause]") {
  auto all = form_cluster(4, {"--profile", "lan"});
  const auto fingerprint = all[0]->fingerprint();
  auto& sleeper = *all[1];
  sleeper.own().signal(SIGSTOP);
  let_pass(std::chrono::seconds(20));
  sleeper.own().signal(SIGCONT);
  await_agreement(all, 4);
  CHECK(all[0]->fingerprint() == fingerprint);
  let_pass(std::chrono::seconds(3));  // What it believed while it woke would show by now.
  await_agreement(all, 4);
  for (const std::size_t each : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
    CHECK(all[each]->count_events("failed", "n1") == 1);
    CHECK(all[each]->count_events("joined", "n1") == 2);
  }
  check_never_blamed(all, {"n0", "n2", "n3"});
  CHECK(sleeper.count_events("failed", "n1") == 0);
}

TEST_CASE("one that is replaced while it sleeps finds that out when it wakes, and stops",
          "[pause]") {
  auto all = form_cluster(3);
  auto sleeper = std::move(all[2]);
  sleeper->own().signal(SIGSTOP);
  all[0]->wait_for_event("failed", "n2");
  const auto since = all[0]->line_count();
  all[2] = std::make_unique<agent>("n2", agent::words{all[0]->address()});
  all[0]->wait_for_event("joined", "n2", since);
  await_agreement(all, 3);
  const auto told = [&] {
    return std::vector<std::size_t>{all[0]->count_events("joined", "n2"),
                                    all[0]->count_events("updated", "n2"),
                                    all[0]->count_events("failed", "n2")};
  };
  const auto before = told();
  sleeper->own().signal(SIGCONT);
  CHECK(sleeper->exit_code() == 1);
  CHECK(sleeper->count_events("superseded", "n2") == 1);
  await_agreement(all, 3);
  CHECK(told() == before);  // Its waking changed nothing.
  check_never_blamed(all, {"n0", "n1"});
}

TEST_CASE("a clock that is set back or forward for one changes nothing", "[pause]") {
#if defined(FAKETIME_LIBRARY)
  const settable_clock clock;
  auto all = form_cluster(3);
  all.push_back(std::make_unique<agent>("n3", agent::words{all[0]->address()}, agent::words{},
                                        "127.0.0.1:0", clock.runner()));
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
  check_never_blamed(all, {"n0", "n1", "n2", "n3"});

  // One that starts with a clock of 1970 refuses nobody and is refused by nobody.
  clock.set("@1970-01-02 00:00:00");
  all.push_back(std::make_unique<agent>("n4", agent::words{all[0]->address()}, agent::words{},
                                        "127.0.0.1:0", clock.runner()));
  await_agreement(all, 5);
  const auto address = all[4]->address();
  all[4]->kill();
  all[4] = std::make_unique<agent>("n4", agent::words{all[0]->address()}, agent::words{}, address);
  await_agreement(all, 5);
#else
  WARN("left out: libfaketime is missing, or this is a tree with sanitizers");
#endif
}

TEST_CASE("a clock that jumps while members prove themselves keeps nobody out", "[pause]") {
#if defined(FAKETIME_LIBRARY)
  const key_file keys;
  const auto sealed = keys.required();
  const settable_clock clock;
  auto all = form_cluster(2, sealed);
  const agent::words first{all[0]->address()};
  all.push_back(std::make_unique<agent>("n2", first, sealed, "127.0.0.1:0", clock.runner(true)));
  await_agreement(all, 3);
  const agent::words jumping{all[2]->address()};
  // Forward, as a virtual machine's may when it is moved; what timers run by never goes back.
  for (const std::string offset : {"+6", "+15", "+30", "+1h", "+3d"}) {
    INFO(offset);
    all.push_back(std::make_unique<agent>("late" + offset, jumping, sealed));
    clock.set(offset);
    await_agreement(all, 4);
    all[3]->own().write("leave\n");
    CHECK(all[3]->exit_code() == 0);
    all.pop_back();
    await_agreement(all, 3);
  }
  for (const auto& each : all) {
    for (const auto* name : {"n0", "n1", "n2"})
      CHECK(each->count_events("failed", name) == 0);
  }
#else
  WARN("left out: libfaketime is missing, or this is a tree with sanitizers");
#endif
}
