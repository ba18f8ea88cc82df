#include "sim/paper.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace lifering::sim {

int reproduce(std::string_view table, const paper_options& options) {
  if (table == "detection") return reproduce_detection(options);
  if (table == "load") return reproduce_load(options);
  if (table == "false-detections") return reproduce_false_detections(options);
  if (table == "lifeguard") return reproduce_lifeguard(options);
  throw std::invalid_argument(
      "\"" + std::string(table) +
      "\" is no table; detection, load, false-detections and lifeguard are");
}

profile plain_swim() {
  profile result = *find_profile("memberlist");
  result.network.latency_min = std::chrono::microseconds{100};
  result.network.latency_max = std::chrono::microseconds{500};
  auto& parts = result.machine.parts;
  for (const char* part : {"suspicion", "gossip_rounds", "stream_probe", "nacks",
                           "local_health_probe", "local_health_suspicion", "buddy", "push_pull"}) {
    switch_off(parts, part);
  }
  return result;
}

void in_parallel(std::size_t count, unsigned jobs, const std::function<void(std::size_t)>& run) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(1U, jobs); ++i) {
    workers.emplace_back([&] {
      for (std::size_t item = next++; item < count; item = next++)
        run(item);
    });
  }
  for (auto& worker : workers)
    worker.join();
}

}  // namespace lifering::sim
