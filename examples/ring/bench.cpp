// lifering-ring bench: lookups by one thread and by all cores.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <thread>

#include "arguments.hpp"
#include "names.hpp"
#include "nodes.hpp"

namespace ring_tool {

namespace {

using clock = std::chrono::steady_clock;

// Keys as users have them, "user:12345", ten bytes.
std::vector<std::string> make_keys() {
  std::vector<std::string> keys;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    keys.push_back("user:" + std::to_string(10000 + i * 7919 % 90000));
  }
  return keys;
}

// Lookups until told to stop, each through the view of its kilo of lookups, as a server's requests
// would be.
std::uint64_t look_up(const lifering::hash_ring& ring, const std::vector<std::string>& keys,
                      const std::atomic<bool>& stop, std::uint64_t first) {
  std::uint64_t count = 0;
  std::uintptr_t sum = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    const auto view = ring.view();
    for (std::size_t i = 0; i < 1024; ++i, ++count) {
      sum += reinterpret_cast<std::uintptr_t>(view.owner(keys[(first + count) & 65535]));
    }
  }
  // A use of the sum, so that no lookup can be left out.
  return sum == 1 ? 0 : count;
}

double lookups_per_second(const lifering::hash_ring& ring, const std::vector<std::string>& keys,
                          unsigned threads, std::uint32_t seconds) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> total{0};
  const auto start = clock::now();
  {
    std::vector<std::jthread> readers;
    for (unsigned t = 0; t < threads; ++t) {
      readers.emplace_back([&, t] { total += look_up(ring, keys, stop, t * 9973U); });
    }
    std::this_thread::sleep_for(std::chrono::seconds{seconds});
    stop = true;
  }
  const std::chrono::duration<double> taken = clock::now() - start;
  return static_cast<double>(total.load()) / taken.count();
}

}  // namespace

int run_bench(arguments args) {
  lifering::placement_options placement;
  std::uint32_t nodes = 1000;
  std::uint32_t seconds = 1;
  while (!args.done()) {
    if (!args.next_is_flag()) {
      throw usage_error("bench takes no word \"" + args.value() + "\"; see lifering-ring --help");
    }
    if (args.flag() == "--nodes") {
      nodes = args.number();
    } else if (args.flag() == "--seconds") {
      seconds = args.number();
    } else if (!take_placement_flag(args, placement)) {
      unknown_flag(args.flag(), "bench");
    }
  }
  check(placement);
  if (nodes < 1 || nodes > 100'000) {
    throw usage_error("--nodes is " + std::to_string(nodes) + "; use 1 to 100000");
  }
  if (seconds < 1 || seconds > 600) {
    throw usage_error("--seconds is " + std::to_string(seconds) + "; use 1 to 600");
  }

  std::vector<lifering::ring_node> batch;
  for (std::string& name : make_names(name_family::ip, nodes, 0)) {
    batch.push_back({std::move(name)});
  }
  const lifering::hash_ring ring = make_ring(placement, batch);

  const auto keys = make_keys();
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const double one = lookups_per_second(ring, keys, 1, seconds);
  const double all = lookups_per_second(ring, keys, cores, seconds);
  std::cout << std::fixed << std::setprecision(1) << placement.text() << ", " << nodes
            << " nodes, keys of 10 bytes\n"
            << "one thread:    " << 1e9 / one << " ns per lookup, " << one / 1e6
            << " million lookups per second\n"
            << cores << " threads:     " << 1e9 * cores / all << " ns per lookup, " << all / 1e6
            << " million lookups per second\n";
  return 0;
}

}  // namespace ring_tool
