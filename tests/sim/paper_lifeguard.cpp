// Lifeguard's experiment (section V): 128 members, some of which are blocked before every send and
// after every receive, for D, and open for I, in lock-step, for two minutes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "ring/mix64.hpp"
#include "sim/cluster.hpp"
#include "sim/paper.hpp"

namespace lifering::sim {
namespace {

using namespace std::chrono_literals;

constexpr node_id members = 128;
constexpr duration settling = 15s;
constexpr duration at_least = 120s;

struct variant {
  const char* name;
  bool local_health_probe;
  bool local_health_suspicion;
  bool buddy;
  double paper_fp;          ///< Per cent of SWIM's, table IV.
  double paper_fp_healthy;  ///< The same of false positives at healthy members.
};

constexpr variant variants[] = {
    {"SWIM", false, false, false, 100, 100},
    {"LHA-Probe", true, false, false, 67.72, 32.88},
    {"LHA-Suspicion", false, true, false, 3.00, 6.71},
    {"Buddy System", false, false, true, 94.08, 44.57},
    {"Lifeguard", true, true, true, 1.53, 1.89},
};

/// memberlist's agents of that time, with alpha 5 and, where suspicions adapt, beta 6.
profile rules_of(const variant& which) {
  profile result = *find_profile("memberlist");
  auto& machine = result.machine;
  machine.timing.suspicion_multiplier = 5;
  machine.timing.suspicion_stretch = which.local_health_suspicion ? 6 : 1;
  machine.suspicion_confirmations = 3;
  machine.local_health_max = 8;
  machine.parts.stream_probe = false;
  machine.parts.nacks = which.local_health_probe;
  machine.parts.local_health_probe = which.local_health_probe;
  machine.parts.scale_probe_timeout = which.local_health_probe;
  machine.parts.failed_probe_always_counts = which.local_health_probe;
  machine.parts.local_health_suspicion = which.local_health_suspicion;
  machine.parts.buddy = which.buddy;
  return result;
}

struct point {
  node_id blocked;
  duration closed;
  duration open;
};

struct outcome {
  std::uint64_t false_positives = 0;
  std::uint64_t at_healthy = 0;
  std::uint64_t datagrams = 0;
  std::uint64_t bytes = 0;

  outcome& operator+=(const outcome& other) noexcept {
    false_positives += other.false_positives;
    at_healthy += other.at_healthy;
    datagrams += other.datagrams;
    bytes += other.bytes;
    return *this;
  }
};

class counter final : public observer {
 public:
  explicit counter(std::vector<bool> anomalous) : anomalous_(std::move(anomalous)) {}
  const outcome& seen() const noexcept { return seen_; }

  void on_event(node_id at, const swim::member_changed& what) override {
    if (what.kind != event_kind::failed) return;
    if (anomalous_[node_of(what.subject->name)]) return;
    ++seen_.false_positives;
    if (!anomalous_[at]) ++seen_.at_healthy;
  }
  void on_sent(node_id, const swim::packet&, std::size_t bytes, bool stream) override {
    seen_.datagrams += stream ? 0 : 1;
    seen_.bytes += bytes;
  }

 private:
  std::vector<bool> anomalous_;
  outcome seen_;
};

outcome run_point(const variant& rules, const point& where, std::uint64_t seed) {
  cluster run({members, seed, rules_of(rules), node_set(1)});
  std::vector<node_id> order;
  for (node_id which = 1; which <= members; ++which)
    order.push_back(which);
  // Of one seed, all variants have the same members blocked.
  base::rng random(ring_detail::hash64(seed).add(std::uint64_t{11}).value());
  random.shuffle(std::span(order));
  order.resize(where.blocked);
  std::vector<bool> anomalous(members + std::size_t{1});
  for (const node_id which : order)
    anomalous[which] = true;
  counter watch(std::move(anomalous));
  run.watch(watch);
  run.start_formed();
  duration at = settling;
  do {
    run.world.at(world_begin + at, [&run, &order, &where] {
      for (const node_id which : order)
        run.block(which, where.closed);
    });
    at += where.closed + where.open;
  } while (at < settling + at_least);
  run.world.run_until(world_begin + at - where.open);
  return watch.seen();
}

std::vector<point> grid(bool sample) {
  if (sample) return {{16, 16'384ms, 1024ms}};
  std::vector<point> result;
  for (const node_id blocked : {4U, 16U, 32U})
    for (const duration closed : {2048ms, 16'384ms, 32'768ms})
      for (const duration open : {4ms, 1024ms})
        result.push_back({blocked, closed, open});
  return result;
}

double per_cent(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(of);
}

/// The paper's order of the variants by false positives, and its size of the effect.
bool as_in_paper(const std::vector<outcome>& seen) {
  const auto fp = [&](std::size_t i) { return seen[i].false_positives; };
  const bool ordered = fp(4) <= fp(2) && fp(2) < fp(1) && fp(1) < fp(3) && fp(3) <= fp(0);
  const bool small =
      per_cent(fp(4), fp(0)) <= 3 && per_cent(seen[4].at_healthy, seen[0].at_healthy) <= 3;
  return fp(0) > 0 && ordered && small;
}

}  // namespace

int reproduce_lifeguard(const paper_options& options) {
  const auto points = grid(options.sample);
  const std::size_t seeds = options.sample ? 1 : 2;
  constexpr std::size_t kinds = std::size(variants);
  std::vector<outcome> runs(kinds * points.size() * seeds);
  in_parallel(runs.size(), options.jobs, [&](std::size_t i) {
    const std::size_t point_index = i / kinds % points.size();
    const std::uint64_t seed = options.seed + i / (kinds * points.size());
    runs[i] = run_point(variants[i % kinds], points[point_index], seed);
  });
  std::vector<outcome> sums(kinds);
  for (std::size_t i = 0; i < runs.size(); ++i)
    sums[i % kinds] += runs[i];
  std::printf("false positives under blocked members (Lifeguard, tables IV and VI)\n");
  std::printf("%-14s %9s %9s %8s %8s %8s %8s %9s %9s\n", "", "FP", "FP-", "FP %", "paper", "FP- %",
              "paper", "messages", "bytes %");
  for (std::size_t i = 0; i < kinds; ++i) {
    std::printf("%-14s %9llu %9llu %8.2f %8.2f %8.2f %8.2f %8.1f%% %8.1f%%\n", variants[i].name,
                static_cast<unsigned long long>(sums[i].false_positives),
                static_cast<unsigned long long>(sums[i].at_healthy),
                per_cent(sums[i].false_positives, sums[0].false_positives), variants[i].paper_fp,
                per_cent(sums[i].at_healthy, sums[0].at_healthy), variants[i].paper_fp_healthy,
                per_cent(sums[i].datagrams, sums[0].datagrams),
                per_cent(sums[i].bytes, sums[0].bytes));
  }
  const bool fine = as_in_paper(sums);
  std::printf("%s\n", fine ? "as in the paper" : "NOT as in the paper");
  return fine ? 0 : 1;
}

}  // namespace lifering::sim
