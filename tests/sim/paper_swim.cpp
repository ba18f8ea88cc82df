// SWIM's formulas: first detection, message load, false detections.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "sim/cluster.hpp"
#include "sim/paper.hpp"
#include "sim/views.hpp"

namespace lifering::sim {
namespace {

using namespace std::chrono_literals;

constexpr duration period = 1s;

const char* verdict_of(bool fine) {
  return fine ? "ok" : "OFF";
}

/// Waits for the first `failed` event about each of some members.
class first_failures final : public observer {
 public:
  first_failures(const cluster& of, std::vector<node_id> subjects)
      : cluster_(of), subjects_(std::move(subjects)), at_(subjects_.size()) {}
  bool all() const noexcept { return seen_ == subjects_.size(); }
  const std::vector<std::optional<duration>>& at() const noexcept { return at_; }

  void on_event(node_id, const swim::member_changed& what) override {
    if (what.kind != event_kind::failed) return;
    const auto found = std::find(subjects_.begin(), subjects_.end(), node_of(what.subject->name));
    if (found == subjects_.end()) return;
    auto& at = at_[static_cast<std::size_t>(found - subjects_.begin())];
    if (at) return;
    at = cluster_.world.elapsed();
    ++seen_;
  }

 private:
  const cluster& cluster_;
  std::vector<node_id> subjects_;
  std::vector<std::optional<duration>> at_;
  std::size_t seen_ = 0;
};

/// Some crashes at the beginning of a period: of each the number of the period in which the first
/// probe that hit it began. Such a probe fails one period after its beginning. Members that form a
/// cluster at the beginning of a period have their turns in it or at its very end.
std::vector<std::int64_t> periods_to_detection(node_id members, node_id together,
                                               std::uint64_t seed) {
  cluster_options options{members, seed, plain_swim(), node_set(1)};
  cluster run(options);
  std::vector<node_id> victims;
  for (node_id i = 0; i < together; ++i)
    victims.push_back(static_cast<node_id>(1 + (seed + i * (members / together)) % members));
  first_failures watch(run, victims);
  run.watch(watch);
  run.start_formed();
  for (const node_id victim : victims)
    run.stop(victim, presence::silent);
  // SWIM, section 4.3: the worst case is 2n - 1 periods.
  const time_point end = world_begin + period * static_cast<std::int64_t>(2 * members);
  while (!watch.all() && run.world.step(end)) {
  }
  std::vector<std::int64_t> periods;
  for (const auto& at : watch.at())
    periods.push_back(at ? (*at - duration(1) - period) / period + 1 : std::int64_t{2} * members);
  return periods;
}

/// The sum over t = 0..n-2 of (1 - t/(n-1))^(n-1), which tends to e/(e-1). Who crashed at the same
/// time probes nobody.
double expected_periods(node_id members, node_id together) {
  const double others = members - 1;
  double sum = 0;
  for (double t = 0; t < others; ++t)
    sum += std::pow(1 - t / others, members - together);
  return sum;
}

profile lossy_swim(ppm loss, unsigned helpers) {
  // What would be a verdict is counted and not carried out: suspicions run for ever, so that all
  // members stay and every probe is one more trial.
  profile result = plain_swim();
  result.network.loss = loss;
  result.machine.timing.indirect_probes = helpers;
  result.machine.timing.suspicion_multiplier = 100;
  result.machine.timing.suspicion_stretch = 100;
  result.machine.parts.suspicion = true;
  result.machine.parts.shuffled_rounds = false;
  return result;
}

/// Of all probes of a cluster without failures, how many failed.
struct trials {
  std::uint64_t probes = 0;
  std::uint64_t failed = 0;
};

trials count_failed_probes(const profile& rules, node_id members, std::int64_t periods,
                           std::uint64_t seed) {
  cluster run({members, seed, rules, node_set(1)});
  run.start_formed();
  run.world.run_until(world_begin + period * periods);
  trials result;
  for (node_id which = 1; which <= members; ++which) {
    result.probes += run.at(which).machine().stats().probes;
    result.failed += run.at(which).machine().stats().probes_failed;
  }
  return result;
}

}  // namespace

int reproduce_detection(const paper_options& options) {
  struct row {
    node_id members;
    std::size_t crashes;
    double tolerance;
    node_id together = 1;  ///< Of a large cluster so many at once, as it takes longest to make.
  };
  const std::vector<row> rows =
      options.sample
          ? std::vector<row>{{16, 3000, 0.05}, {128, 200, 0.1}}
          : std::vector<row>{{16, 10'000, 0.02}, {128, 10'000, 0.02}, {1024, 10'000, 0.02, 8}};
  std::printf("first detection of a crash, in whole periods (SWIM, section 3)\n");
  std::printf("%8s %8s %10s %10s %8s\n", "members", "crashes", "expected", "measured", "latest");
  bool fine = true;
  for (const auto& [members, crashes, tolerance, together] : rows) {
    std::vector<std::int64_t> periods(crashes);
    in_parallel(crashes / together, options.jobs,
                [&, size = members, at_once = together](std::size_t i) {
                  const auto seen = periods_to_detection(size, at_once, options.seed + i);
                  std::copy(seen.begin(), seen.end(),
                            periods.begin() + static_cast<std::ptrdiff_t>(i * at_once));
                });
    double sum = 0;
    for (const auto value : periods)
      sum += static_cast<double>(value);
    const double mean = sum / static_cast<double>(crashes);
    const double expected = expected_periods(members, together);
    const std::int64_t latest = *std::max_element(periods.begin(), periods.end());
    const bool is_near = std::abs(mean / expected - 1) <= tolerance && latest < 2 * members;
    fine = fine && is_near;
    std::printf("%8u %8zu %10.3f %10.3f %8lld %s\n", members, crashes, expected, mean,
                static_cast<long long>(latest), verdict_of(is_near));
    std::fflush(stdout);  // The larger ones take their time.
  }
  return fine ? 0 : 1;
}

int reproduce_load(const paper_options& options) {
  const std::int64_t periods = options.sample ? 50 : 500;
  std::printf("datagrams of a member in a period, no failures (SWIM, section 6)\n");
  std::printf("%8s %10s %10s %10s\n", "members", "expected", "sent", "received");
  bool fine = true;
  for (const node_id members : {5U, 16U, 55U, 200U}) {
    cluster run({members, options.seed, plain_swim(), node_set(1)});
    run.start_formed();
    run.world.run_until(world_begin + period * periods);
    const double trials = static_cast<double>(members) * static_cast<double>(periods);
    const double sent = static_cast<double>(run.network.counters().sent) / trials;
    const double received = static_cast<double>(run.network.counters().delivered) / trials;
    const bool is_near = std::abs(sent / 2 - 1) <= 0.05 && std::abs(received / 2 - 1) <= 0.05;
    fine = fine && is_near;
    std::printf("%8u %10.2f %10.3f %10.3f %s\n", members, 2.0, sent, received, verdict_of(is_near));
  }
  return fine ? 0 : 1;
}

int reproduce_false_detections(const paper_options& options) {
  const std::int64_t periods = options.sample ? 200 : 5000;
  constexpr node_id members = 50;
  std::printf("false detections of a member in e/(e-1) periods (SWIM, section 3)\n");
  std::printf("%6s %8s %10s %12s %12s %12s\n", "loss", "helpers", "probes", "expected", "measured",
              "std. error");
  const double in_periods = std::exp(1.0) / (std::exp(1.0) - 1);
  bool fine = true;
  std::uint64_t seed = options.seed;
  for (const ppm loss : {10'000U, 50'000U, 100'000U, 300'000U}) {
    for (const unsigned helpers : {0U, 1U, 3U}) {
      const trials seen = count_failed_probes(lossy_swim(loss, helpers), members, periods, seed++);
      const double q = 1 - static_cast<double>(loss) / certain;
      const double chance = (1 - q * q) * std::pow(1 - q * q * q * q, helpers);
      const auto probes = static_cast<double>(seen.probes);
      const double measured = static_cast<double>(seen.failed) / probes;
      // At least one event's worth, where hardly any is expected.
      const double error = std::max(std::sqrt(chance * (1 - chance) / probes), 1 / probes);
      const bool is_near = std::abs(measured - chance) <= 3 * error;
      fine = fine && is_near;
      std::printf("%5.0f%% %8u %10llu %12.3e %12.3e %12.3e %s\n", (1 - q) * 100, helpers,
                  static_cast<unsigned long long>(seen.probes), in_periods * chance,
                  in_periods * measured, in_periods * error, verdict_of(is_near));
    }
  }
  return fine ? 0 : 1;
}

}  // namespace lifering::sim
