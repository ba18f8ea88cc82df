// Processes that stand still for long.
#include <signal.h>

#include <chrono>

#include "cluster/stories.hpp"
#include "support/catch.hpp"

using namespace lifering_test;

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
  check_stories(all, "n1", {"joined", "failed", "joined"});
  check_nothing_else(all, {"n1"});
  CHECK(sleeper.changes_of("n1") == agent::words{});
}

TEST_CASE("one that is replaced while it sleeps finds that out when it wakes, and stops",
          "[pause]") {
  auto all = form_cluster(3);
  auto sleeper = std::move(all[2]);
  sleeper->own().signal(SIGSTOP);
  all.pop_back();
  await_changes(all, "n2", 2);
  all.push_back(std::make_unique<agent>("n2", agent::words{all[0]->address()}));
  await_agreement(all, 3);
  check_stories(all, "n2", {"joined", "failed", "joined"});
  sleeper->own().signal(SIGCONT);
  CHECK(sleeper->exit_code() == 1);
  CHECK(sleeper->count_events("superseded", "n2") == 1);
  let_pass(std::chrono::seconds(2));  // What its waking does to others would show by now.
  await_agreement(all, 3);
  check_stories(all, "n2", {"joined", "failed", "joined"});
  check_nothing_else(all, {"n2"});
  CHECK(all[2]->changes_of("n2") == agent::words{});
}
