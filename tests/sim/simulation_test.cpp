// Whole runs: what a seed decides, what results say, what a cluster does in small.
#include "sim/simulation.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include "sim/random_scenario.hpp"
#include "sim/report.hpp"
#include "sim/sweep.hpp"
#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::sim;

namespace {

result run(const std::string& text, std::uint64_t seed = 1) {
  const scenario read = parse_scenario(text, "test");
  return simulation(drawn_from(read, seed), seed).run();
}

constexpr const char* small_crash =
    "nodes 10 formed\n"
    "at 5s crash 3\n"
    "until 30s\n"
    "expect failed 3 everywhere within 20s of 5s\n"
    "expect no false failures\n";

}  // namespace

TEST_CASE("one seed decides the whole run", "[sim][simulation]") {
  const auto first = run("random 2..20 for 30s", 4);
  const auto again = run("random 2..20 for 30s", 4);
  CHECK(first.trace == again.trace);
  CHECK(first.counters == again.counters);
  CHECK(first.trace != run("random 2..20 for 30s", 5).trace);
}

TEST_CASE("a run without trace lines is the same as one with them", "[sim][simulation]") {
  const scenario read = parse_scenario(small_crash, "test");
  simulation loud(read, 1);
  std::size_t lines = 0;
  loud.print_to([&](std::string_view) { ++lines; });
  CHECK(loud.run().trace == simulation(read, 1).run().trace);
  CHECK(lines > 10);
}

TEST_CASE("a crash is found out by all, and reported with its times", "[sim][simulation]") {
  const auto found = run(small_crash);
  CHECK(found.passed());
  CHECK(found.converged);
  REQUIRE(found.crashes.size() == 1);
  CHECK(found.crashes[0].node == 3);
  CHECK(found.crashes[0].at_s == 5);
  REQUIRE(found.crashes[0].first_s);
  REQUIRE(found.crashes[0].all_s);
  CHECK(*found.crashes[0].first_s <= *found.crashes[0].all_s);
  CHECK(found.events.at("failed") == 9);
  CHECK(found.false_failures == 0);
  CHECK(found.largest_datagram <= 1400);
}

TEST_CASE("an expectation that isn't met fails the run and says why", "[sim][simulation]") {
  const auto found =
      run("nodes 10 formed\nat 5s vanish 3\nuntil 30s\n"
          "expect failed 3 everywhere within 0.1s of 5s\nexpect no suspicions\n");
  CHECK_FALSE(found.passed());
  REQUIRE(found.expectations.size() == 2);
  CHECK_FALSE(found.expectations[0].met);
  CHECK(found.expectations[0].line == 4);
  CHECK(found.expectations[0].detail.find("node-3 is ") != std::string::npos);
  CHECK_FALSE(found.expectations[1].met);
  CHECK(first_fault(found).find("failed 3 everywhere") != std::string::npos);
  CHECK(replay_line(found) == "lifering-sim run test --seed 1");
}

TEST_CASE("what was masked is masked in the replay as well", "[sim][simulation]") {
  const auto drawn =
      drawn_from(parse_scenario("random 2..3 for 1s mask cut\nexpect no suspicions\n", "x"), 4);
  CHECK(replay_line(simulation(drawn, 4).run()) == "lifering-sim run x --seed 4 --mask cut");
}

TEST_CASE("agreement must last until the next disturbance", "[sim][simulation]") {
  // Everyone agrees before and after, but from 5.0 s on node 3 is gone and not yet noticed.
  const std::string text = "nodes 10 formed\nat 5s vanish 3\nuntil 60s\n";
  CHECK(run(text + "expect agree within 1s of 0s\n").passed());
  CHECK(run(text + "expect agree within 50s of 5s\n").passed());
  CHECK_FALSE(run(text + "expect agree within 0.1s of 5s\n").passed());
}

TEST_CASE("a stale view can't certify a cluster", "[sim][simulation]") {
  // All hold the same view, with a member in it that isn't there.
  const auto found =
      run("nodes 10 formed\nset probe_interval 60s\nset probe_timeout 30s\n"
          "without transport_evidence push_pull heal digest_sync\n"
          "at 5s vanish 3\nuntil 20s\n");
  CHECK_FALSE(found.converged);
  CHECK_FALSE(found.agree_s);
  REQUIRE(found.crashes.size() == 1);
  CHECK_FALSE(found.crashes[0].all_s);
}

TEST_CASE("disagreement counts the time in which rings differ", "[sim][simulation]") {
  CHECK(run("nodes 10 formed\nuntil 20s\n").disagreement_s == 0);
  const auto apart = run("nodes 10 formed\nat 5s cut 1-5 | 6-10\nuntil 100s\n");
  // Two halves agree within themselves (20 of 45 pairs), and differ on most keys across.
  CHECK(apart.disagreement_s > 10);
  CHECK(apart.disagreement_s < 60);
  CHECK(apart.fingerprints_max >= 2);
}

TEST_CASE("the JSON result has what it promises", "[sim][simulation]") {
  const std::string json = to_json(run(small_crash));
  for (const char* key : {"scenario",
                          "seed",
                          "virtual_s",
                          "wall_s",
                          "converged",
                          "agree_s",
                          "crashes",
                          "node",
                          "at_s",
                          "first_s",
                          "all_s",
                          "false_failures",
                          "false_failure_observers",
                          "events",
                          "joined",
                          "fingerprints_max",
                          "ring_versions",
                          "p50",
                          "p95",
                          "max",
                          "packets_per_s",
                          "mean",
                          "p99",
                          "bytes_per_s",
                          "largest_datagram",
                          "disagreement_s",
                          "expectations",
                          "line",
                          "met",
                          "detail",
                          "violations"}) {
    CHECK(json.find("\"" + std::string(key) + "\":") != std::string::npos);
  }
  CHECK(json.front() == '{');
  CHECK(json.back() == '}');
  CHECK(json.find('\n') == std::string::npos);
}

TEST_CASE("a sweep counts what fails, and sees what happened", "[sim][sweep]") {
  scenario read = parse_scenario("random 2..8 for 20s", "test");
  const auto found = run_sweep(read, {1, 6, 2, false});
  CHECK(found.runs == 6);
  CHECK(found.sums.at("members") >= 12);
  CHECK(found.sums.at("datagrams_sent") > 1000);

  read = parse_scenario("nodes 3 formed\nuntil 5s\nexpect at most 0 packets per second\n", "test");
  CHECK(run_sweep(read, {1, 3, 2, false}).failed == 3);
}

TEST_CASE("a sweep in which nothing happened is told so", "[sim][sweep]") {
  random_part drawn;
  CHECK(unseen({}, drawn).find("datagrams_lost, datagrams_duplicated") == 0);
  sweep_result all;
  for (const char* name : {"datagrams_lost",
                           "datagrams_duplicated",
                           "datagrams_held_back",
                           "datagrams_cut",
                           "datagrams_refused",
                           "crashes",
                           "restarts",
                           "pauses",
                           "jerks",
                           "late_wakes",
                           "blocks",
                           "leaves",
                           "member_losses",
                           "broadcasts",
                           "drains",
                           "readies",
                           "forgets",
                           "suspicions_raised",
                           "suspicions_confirmed",
                           "refutations",
                           "failures_declared",
                           "failed",
                           "recovered",
                           "left",
                           "syncs_served",
                           "stream_retries",
                           "merges"}) {
    all.sums[name] = 1;
  }
  CHECK(unseen(all, drawn).empty());
  all.sums["merges"] = 0;
  CHECK(unseen(all, drawn) == "merges");
  drawn.masked = {"cut"};
  CHECK(unseen(all, drawn).empty());
}

TEST_CASE("every compiler and build type gives the traces on record", "[sim][traces]") {
  // After a change of the machine: record_traces.sh in this folder.
  std::ifstream file(SIM_FOLDER "/traces.txt");
  REQUIRE(file);
  std::string name;
  std::string expected;
  std::uint64_t seed = 0;
  std::size_t count = 0;
  while (file >> name >> seed >> expected) {
    const scenario read = load_scenario(std::string(SIM_FOLDER "/scenarios/") + name + ".scenario");
    const auto found = simulation(drawn_from(read, seed), seed).run();
    std::ostringstream hash;
    hash << std::hex << found.trace;
    INFO(name << ", seed " << seed);
    CHECK(hash.str() == expected);
    ++count;
  }
  CHECK(count >= 5);
}
