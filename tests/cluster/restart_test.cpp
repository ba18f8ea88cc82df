// Processes that end and come again: fast, slowly, elsewhere, all at once, under each other's names
// and at each other's addresses. In each story any event that isn't told here is a defect.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <span>
#include <stdexcept>

#include "cluster/stories.hpp"
#include "support/catch.hpp"
#include "support/sanitized.hpp"

using namespace lifering_test;

namespace {

using words = agent::words;

std::unique_ptr<agent> make(const std::string& name, const words& seeds, const std::string& bind,
                            const words& more = {}) {
  return std::make_unique<agent>(name, seeds, more, bind);
}

words addresses_of(const agents& all) {
  words result;
  for (const auto& each : all)
    result.push_back(each->address());
  return result;
}

/// Waits until it has said that so often.
void await_count(agent& by, const std::string& kind, const std::string& name, std::size_t count) {
  if (!eventually([&] { return by.count_events(kind, name) >= count; }))
    throw std::runtime_error(by.name() + " never said: " + kind);
}

/// No failure of the lan profile is found faster: a quarter of the shortest suspicion, when the
/// host itself says that the process is gone.
constexpr std::chrono::milliseconds detection_min{250};

/// Waits until it was told of the second life of a member.
void await_came_again(agent& by, const std::string& name) {
  eventually(
      [&] { return by.count_events("updated", name) + by.count_events("joined", name) >= 2; });
}

/// What it was told of a member is one of these stories.
void check_told(agent& by, const std::string& name, const std::vector<words>& stories) {
  const auto told = by.changes_of(name);
  INFO(by.name() << " about " << name);
  CAPTURE(told);
  CHECK(std::ranges::find(stories, told) != stories.end());
}

const words one_update{"joined", "updated"};
const words one_return{"joined", "failed", "joined"};

/// A member that was killed and came again is one update, or, if that took longer than to find its
/// failure, one failure and one more arrival.
void check_came_again(agent& by, const std::string& name, process::clock::duration took) {
  if (took < detection_min) return check_told(by, name, {one_update});
  check_told(by, name, {one_update, one_return});
}

/// The same to somebody who started when it did: its earlier life may have been there still.
void check_came(agent& by, const std::string& name) {
  check_told(by, name, {{"joined"}, one_update, one_return});
}

}  // namespace

TEST_CASE("a restart that is faster than its detection is one update, wherever it comes up",
          "[restart]") {
  auto all = form_cluster(4, {"--profile", "lan"});
  const auto fingerprint = all[0]->fingerprint();
  const bool same_port = GENERATE(true, false);
  const auto bind = same_port ? all[2]->address() : any_port();
  const auto begin = process::clock::now();
  all[2]->kill();
  all[2] = make("n2", {all[0]->address()}, bind, {"--profile", "lan"});
  const auto ready = process::clock::now();
  for (const std::size_t each : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
    await_came_again(*all[each], "n2");
  }
  const auto took = process::clock::now() - begin;
  CHECK(process::clock::now() - ready < std::chrono::seconds(2));
  await_agreement(all, 4);
  CHECK(all[0]->fingerprint() == fingerprint);
  let_pass(std::chrono::seconds(4));  // The old life's failure would be found in this time.
  for (const std::size_t each : {std::size_t{0}, std::size_t{1}, std::size_t{3}})
    check_came_again(*all[each], "n2", took);
  check_nothing_else(all, {"n2"});
}

TEST_CASE("a restart after the failure was seen is one arrival", "[restart]") {
  auto all = form_cluster(4);
  const bool same_port = GENERATE(true, false);
  const auto bind = same_port ? all[2]->address() : any_port();
  all[2]->kill();
  for (const std::size_t each : {std::size_t{0}, std::size_t{1}, std::size_t{3}})
    all[each]->wait_for_event("failed", "n2");
  const auto begin = process::clock::now();
  all[2] = make("n2", {all[0]->address()}, bind);
  for (const std::size_t each : {std::size_t{0}, std::size_t{1}, std::size_t{3}})
    await_count(*all[each], "joined", "n2", 2);
  CHECK(process::clock::now() - begin < std::chrono::seconds(2));
  await_agreement(all, 4);
  let_pass(std::chrono::seconds(2));
  check_stories(all, "n2", {"joined", "failed", "joined"});
  check_nothing_else(all, {"n2"});
}

TEST_CASE("one that leaves and is gone at once has left for everybody and never fails",
          "[restart]") {
  auto all = form_cluster(5);
  for (int i = 0; i < 2; ++i) {
    auto gone = std::move(all.back());
    all.pop_back();
    gone->own().write("leave\nquit\n");
    CHECK(gone->exit_code() == 0);
    for (auto& each : all)
      each->wait_for_event("left", gone->name());
  }
  await_agreement(all, 3);
  let_pass(std::chrono::seconds(2));
  for (const auto* name : {"n3", "n4"})
    check_stories(all, name, {"joined", "left"});
  check_nothing_else(all, {"n3", "n4"});
}

TEST_CASE("a rolling restart of all is an update each, or a leave and an arrival", "[restart]") {
  const words lan{"--profile", "lan"};
  const bool leaves = GENERATE(true, false);
  auto all = form_cluster(6, lan);
  const auto fingerprint = all[0]->fingerprint();
  std::vector<process::clock::duration> took;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto begin = process::clock::now();
    const auto address = all[i]->address();
    const auto name = all[i]->name();
    auto seeds = addresses_of(all);
    if (leaves) {
      all[i]->own().write("leave\n");
      CHECK(all[i]->exit_code() == 0);
    } else {
      all[i]->kill();
    }
    all[i] = make(name, seeds, address, lan);
    await_agreement(all, all.size());
    took.push_back(process::clock::now() - begin);
  }
  CHECK(all[0]->fingerprint() == fingerprint);
  let_pass(std::chrono::seconds(3));
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (i == other) continue;
      const auto name = all[i]->name();
      INFO(all[other]->name() << " about " << name);
      // Who restarted later saw the first life end; who restarted before saw only the second come.
      if (i < other) {
        CHECK(all[other]->changes_of(name) == words{"joined"});
      } else if (leaves) {
        CHECK(all[other]->changes_of(name) == words{"joined", "left", "joined"});
      } else {
        check_came_again(*all[other], name, took[i]);
      }
    }
    CHECK(all[i]->changes_of(all[i]->name()) == words{});
    CHECK(all[i]->all_changes().size() == all.size() - 1);
  }
}

TEST_CASE("all killed and started again in any order come together", "[restart]") {
  std::mt19937 random(7);
  auto all = form_cluster(6);
  const auto fingerprint = all[0]->fingerprint();
  const auto addresses = addresses_of(all);
  for (int round = 0; round < 3; ++round) {
    INFO("round " << round);
    for (auto& each : all)
      each->kill();
    std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order)
      all[i] = make("n" + std::to_string(i), addresses, addresses[i]);
    await_agreement(all, 6);
    CHECK(all[0]->fingerprint() == fingerprint);
    check_nothing_else(all);
  }
  let_pass(std::chrono::seconds(2));
  check_nothing_else(all);
}

TEST_CASE("fifty times left and started again: fifty departures and arrivals, no failure",
          "[restart]") {
  auto all = form_cluster(2);
  auto goes = make("goes", {all[0]->address()}, any_port());
  const auto address = goes->address();
  for (std::size_t cycle = 0; cycle < 50; ++cycle) {
    for (auto& each : all)
      await_count(*each, "joined", "goes", cycle + 1);
    goes->own().write("leave\n");
    REQUIRE(goes->exit_code() == 0);
    goes = make("goes", {all[0]->address()}, address);
  }
  for (auto& each : all)
    await_count(*each, "joined", "goes", 51);
  for (const auto& each : all) {
    const auto story = each->changes_of("goes");
    CHECK(story.size() == 101);
    for (std::size_t i = 0; i < story.size(); ++i)
      CHECK(story[i] == (i % 2 == 0 ? "joined" : "left"));
  }
  all.push_back(std::move(goes));
  check_nothing_else(all, {"goes"});
}

TEST_CASE("of fifty, three die, two leave and three restart at once; the others are never blamed",
          "[restart]") {
  // Two processors can't carry thirty under ThreadSanitizer: they fail each other.
  constexpr std::size_t count = is_sanitized ? 16 : 50;
  constexpr std::size_t witnesses_count = count - 8;
  const words lan{"--profile", "lan"};
  auto all = form_cluster(count, lan);
  words concerned;
  for (std::size_t i = witnesses_count; i < count; ++i)
    concerned.push_back(all[i]->name());
  const auto dead = std::span(concerned).first(3);
  const auto gone = std::span(concerned).subspan(3, 2);
  const auto restarted = std::span(concerned).last(3);
  agents ended;
  for (std::size_t i = 0; i < 5; ++i)
    ended.push_back(std::move(all[witnesses_count + i]));
  std::erase(all, nullptr);
  for (std::size_t i = 0; i < 5; ++i) {
    if (i < dead.size()) {
      ended[i]->own().signal(SIGKILL);
    } else {
      ended[i]->own().write("leave\n");
    }
  }
  const auto begin = process::clock::now();
  for (auto& each : std::span(all).last(3)) {
    const auto address = each->address();
    each->kill();
    each = make(each->name(), {all[0]->address()}, address, lan);
  }
  const auto witnesses = std::span(all).first(witnesses_count);
  for (const auto& each : witnesses) {
    for (const auto& name : restarted)
      await_came_again(*each, name);
  }
  const auto took = process::clock::now() - begin;
  await_agreement(all, count - 5);
  let_pass(std::chrono::seconds(2));
  for (const auto& each : witnesses) {
    for (const auto& name : dead)
      check_told(*each, name, {{"joined", "failed"}});
    for (const auto& name : gone)
      check_told(*each, name, {{"joined", "left"}});
    for (const auto& name : restarted)
      check_came_again(*each, name, took);
  }
  for (const auto& each : std::span(all).last(3)) {
    for (const auto& name : dead)
      check_told(*each, name, {{}, {"joined", "failed"}});
    for (const auto& name : gone)
      check_told(*each, name, {{}, {"joined", "left"}});
    for (const auto& name : restarted) {
      if (name != each->name()) check_came(*each, name);
    }
  }
  check_nothing_else(all, concerned);
}

TEST_CASE("of two agents with one name the older is told and exits with 1, the newer stays",
          "[restart]") {
  auto all = form_cluster(3);
  auto newer = make("n2", {all[0]->address()}, any_port());
  auto older = std::move(all[2]);
  all.pop_back();
  older->wait_for_event("superseded", "n2");
  CHECK(older->exit_code() == 1);
  for (auto& each : all)
    each->wait_for_event("updated", "n2");
  let_pass(std::chrono::seconds(2));
  check_stories(all, "n2", {"joined", "updated"});
  CHECK(newer->member_count() == 3);
  CHECK(newer->fingerprint() == all[0]->fingerprint());
  all.push_back(std::move(newer));
  check_nothing_else(all, {"n2"});
  CHECK(all[2]->changes_of("n2") == words{});
}

TEST_CASE("two clusters that swap addresses stay two", "[restart]") {
  const words lan{"--profile", "lan"};
  const words of_b{"--profile", "lan", "--cluster", "another"};
  auto a = form_cluster(3, lan);
  auto b = form_cluster(3, of_b);
  const auto of_a_before = addresses_of(a);
  const auto of_b_before = addresses_of(b);
  const auto begin = process::clock::now();
  // One of each keeps its place, and knows the others where now the other cluster is.
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    a[i]->kill();
    b[i]->kill();
  }
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const auto name = "n" + std::to_string(i);
    a[i] = make(name, of_a_before, of_b_before[i], lan);
    b[i] = make(name, of_b_before, of_a_before[i], of_b);
  }
  for (const auto* of : {&a, &b}) {
    for (const auto* name : {"n1", "n2"})
      await_came_again(*of->front(), name);
  }
  const auto took = process::clock::now() - begin;
  let_pass(std::chrono::seconds(2));
  await_agreement(a, 3);
  await_agreement(b, 3);
  for (const auto* of : {&a, &b}) {
    const auto own = addresses_of(*of);
    for (const auto& each : *of) {
      const json members = each->ask("members")["members"];
      for (const auto& member : members.items()) {
        CHECK(std::count(own.begin(), own.end(), member["address"].text()) == 1);
      }
    }
    for (const auto* name : {"n1", "n2"})
      check_came_again(*of->front(), name, took);
    check_came(*(*of)[1], "n2");
    check_came(*(*of)[2], "n1");
    check_nothing_else(*of, {"n1", "n2"});
  }
}

TEST_CASE("two members that swap addresses are found where they are now", "[restart]") {
  const words lan{"--profile", "lan"};
  auto all = form_cluster(4, lan);
  const auto fingerprint = all[0]->fingerprint();
  const auto places = addresses_of(all);
  const auto begin = process::clock::now();
  all[1]->kill();
  all[2]->kill();
  all[1] = make("n1", {places[0]}, places[2], lan);
  all[2] = make("n2", {places[0]}, places[1], lan);
  const auto is_right = [&] {
    for (const auto& each : all) {
      const json members = each->ask("members")["members"];
      if (members.size() != 4) return false;
      if (members[1]["address"].text() != places[2]) return false;
      if (members[2]["address"].text() != places[1]) return false;
    }
    return true;
  };
  CHECK(eventually(is_right));
  const auto took = process::clock::now() - begin;
  let_pass(std::chrono::seconds(4));
  CHECK(is_right());
  CHECK(all[0]->fingerprint() == fingerprint);
  for (const auto* name : {"n1", "n2"}) {
    for (const std::size_t each : {std::size_t{0}, std::size_t{3}})
      check_came_again(*all[each], name, took);
  }
  check_came(*all[1], "n2");
  check_came(*all[2], "n1");
  check_nothing_else(all, {"n1", "n2"});
}
