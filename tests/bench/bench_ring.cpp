// The ring's figures: lookups, views, changes, hashes. bench_ring.sh runs the yardstick in the same
// run and prints the ratios.
#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <lifering/hash.hpp>
#include <lifering/ring.hpp>
#include <string>
#include <thread>
#include <vector>

#include "ring/crc32.hpp"

namespace {

using lifering::hash_ring;
using lifering::placement_options;
using lifering::ring_node;

std::vector<ring_node> nodes_of(std::size_t count, bool weighted = false) {
  std::vector<ring_node> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    ring_node node{"10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ":6379"};
    if (weighted) {
      node.weight = *lifering::weight::from_thousandths(500 + i * 7 % 31 * 100);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// "user:12345": ten bytes.
const std::vector<std::string>& keys() {
  static const auto result = [] {
    std::vector<std::string> list;
    for (std::uint64_t i = 0; i < 65536; ++i) {
      list.push_back("user:" + std::to_string(10'000 + i * 7919 % 90'000));
    }
    return list;
  }();
  return result;
}

enum placement : std::int64_t { classic, mixed, slots, slots_22, slots_capped };

placement_options options_of(std::int64_t which) {
  placement_options options = which == classic ? placement_options::classic()
                              : which == mixed ? placement_options::mixed()
                                               : placement_options::slots();
  if (which == slots_22) {
    options.segments = 22;
  }
  if (which == slots_capped) {
    options.cap = 50;
  }
  return options;
}

// A ring that lives as long as the program, as many benchmarks read it.
const hash_ring& shared_ring(std::int64_t which, std::int64_t count) {
  static std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, hash_ring>> rings;
  for (const auto& [what, ring] : rings) {
    if (what == std::pair{which, count}) {
      return ring;
    }
  }
  hash_ring ring{options_of(which)};
  ring.assign(nodes_of(static_cast<std::size_t>(count)));
  rings.emplace_back(std::pair{which, count}, std::move(ring));
  return rings.back().second;
}

const hash_ring* lookup_ring = nullptr;

void prepare(const benchmark::State& state) {
  lookup_ring = &shared_ring(state.range(0), state.range(1));
}

void lookup(benchmark::State& state) {
  const auto view = lookup_ring->view();
  const auto& all = keys();
  std::size_t i = static_cast<std::size_t>(state.thread_index()) * 9973;
  for (auto _ : state) {
    benchmark::DoNotOptimize(view.owner(all[i++ & 65535]));
  }
  state.SetItemsProcessed(state.iterations());
}

void lookup_batch(benchmark::State& state) {
  const auto view = lookup_ring->view();
  const std::vector<std::string_view> all{keys().begin(), keys().end()};
  constexpr std::size_t batch = 64;
  std::vector<const ring_node*> owners(batch);
  std::size_t i = static_cast<std::size_t>(state.thread_index()) * 9984;
  for (auto _ : state) {
    view.owner(std::span{all}.subspan(i & 65535 & ~(batch - 1), batch), owners);
    benchmark::DoNotOptimize(owners.data());
    i += batch;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch));
}

void view_and_release(benchmark::State& state) {
  for (auto _ : state) {
    auto view = lookup_ring->view();
    benchmark::DoNotOptimize(view);
  }
}

void lookup_with_view(benchmark::State& state) {
  const auto& all = keys();
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(lookup_ring->view().owner(all[i++ & 65535]));
  }
}

void three_replicas(benchmark::State& state) {
  const auto view = lookup_ring->view();
  const auto& all = keys();
  std::array<const ring_node*, 3> out{};
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(view.owners(all[i++ & 65535], out));
  }
}

// One reader, while another thread publishes so many times a second. The writer's own time on the
// reader's core isn't the reader's: run on two idle cores.
void lookup_beside_writer(benchmark::State& state) {
  hash_ring ring{options_of(state.range(0))};
  ring.assign(nodes_of(static_cast<std::size_t>(state.range(1))));
  std::atomic<bool> stop{false};
  std::jthread writer{[&ring, &stop, rate = state.range(2)] {
    if (rate == 0) {
      return;
    }
    auto next = std::chrono::steady_clock::now();
    while (!stop) {
      ring.add({"10.9.9.9:6379"});
      std::this_thread::sleep_until(next += std::chrono::microseconds{1'000'000 / rate});
      ring.remove("10.9.9.9:6379");
      std::this_thread::sleep_until(next += std::chrono::microseconds{1'000'000 / rate});
    }
  }};
  const auto& all = keys();
  std::size_t i = 0;
  for (auto _ : state) {
    const auto view = ring.view();
    for (int k = 0; k < 64; ++k) {
      benchmark::DoNotOptimize(view.owner(all[i++ & 65535]));
    }
  }
  state.SetItemsProcessed(state.iterations() * 64);
  stop = true;
}

void join_and_leave(benchmark::State& state) {
  hash_ring ring{options_of(state.range(0))};
  ring.assign(nodes_of(static_cast<std::size_t>(state.range(1)), state.range(2) != 0));
  for (auto _ : state) {
    ring.add({"10.9.9.9:6379"});
    ring.remove("10.9.9.9:6379");
  }
  state.SetLabel("a join and a leave");
}

void build(benchmark::State& state) {
  const auto nodes = nodes_of(static_cast<std::size_t>(state.range(1)), state.range(2) != 0);
  for (auto _ : state) {
    hash_ring ring{options_of(state.range(0))};
    ring.assign(nodes);
  }
  hash_ring ring{options_of(state.range(0))};
  ring.assign(nodes);
  state.counters["bytes"] = static_cast<double>(ring.view().bytes());
}

void crc(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const std::string text(4096 + size, 'x');
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(lifering::crc32({text.data() + (i++ & 4095), size}));
  }
}

BENCHMARK(lookup)
    ->Setup(prepare)
    ->ArgNames({"placement", "nodes"})
    ->ArgsProduct({{classic, mixed, slots, slots_22}, {10, 100, 1000, 10'000}})
    ->UseRealTime();
BENCHMARK(lookup)
    ->Setup(prepare)
    ->ArgNames({"placement", "nodes"})
    ->ArgsProduct({{classic, mixed, slots}, {1000}})
    ->Threads(2)
    ->UseRealTime();
BENCHMARK(lookup_batch)
    ->Setup(prepare)
    ->ArgNames({"placement", "nodes"})
    ->ArgsProduct({{classic, mixed, slots}, {1000}});
BENCHMARK(view_and_release)
    ->Setup(prepare)
    ->ArgNames({"placement", "nodes"})
    ->Args({classic, 1000});
BENCHMARK(lookup_with_view)
    ->Setup(prepare)
    ->ArgNames({"placement", "nodes"})
    ->Args({classic, 1000});
BENCHMARK(three_replicas)
    ->Setup(prepare)
    ->ArgNames({"placement", "nodes"})
    ->ArgsProduct({{classic, slots}, {10, 1000}});
BENCHMARK(lookup_beside_writer)
    ->ArgNames({"placement", "nodes", "rate"})
    ->Args({classic, 1000, 0})
    ->Args({classic, 1000, 100})
    ->Args({classic, 10, 0})
    ->Args({classic, 10, 1000})
    ->UseRealTime();
BENCHMARK(join_and_leave)
    ->ArgNames({"placement", "nodes", "weighted"})
    ->ArgsProduct({{classic, slots}, {10, 100, 1000}, {0, 1}})
    ->Args({classic, 10'000, 0})
    ->Args({slots, 10'000, 0})
    ->Args({slots_capped, 1000, 0})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(build)
    ->ArgNames({"placement", "nodes", "weighted"})
    ->ArgsProduct({{classic, mixed, slots}, {10, 100, 1000, 10'000}, {0}})
    ->Args({classic, 1000, 1})
    ->Args({slots, 1000, 1})
    ->Args({slots_capped, 1000, 0})
    ->Args({slots_22, 1000, 0})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(crc)->Arg(8)->Arg(10)->Arg(16)->Arg(24)->Arg(32)->Arg(64)->Arg(256)->Arg(1400);

}  // namespace

BENCHMARK_MAIN();
