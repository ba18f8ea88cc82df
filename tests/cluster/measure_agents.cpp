// Measures agents as separate processes on this machine: what an idle one costs, and how long after
// a SIGKILL the last survivor has reported it.
//
//     measure_agents [SIZE [PROFILE [SECONDS]]]
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <thread>

#include "cluster/agent.hpp"

namespace {

using namespace lifering_test;

/// Processor time that a process has used, in seconds: fields 14 and 15 of its stat, which follow
/// the name in parentheses.
double processor_seconds(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  text.erase(0, text.rfind(')') + 2);
  double ticks = 0;
  for (int field = 3; field <= 15; ++field) {
    const auto space = text.find(' ');
    if (field >= 14) ticks += std::stod(text.substr(0, space));
    text.erase(0, space + 1);
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

struct reading {
  double processor = 0;
  double packets = 0;
  double bytes = 0;
};

/// The sum over all agents.
reading read_all(const agents& all) {
  reading sum;
  for (const auto& each : all) {
    const auto stats = each->ask("stats")["stats"];
    sum.processor += processor_seconds(each->own().pid());
    sum.packets += stats["datagrams_sent"].number();
    sum.bytes += stats["bytes_sent"].number();
  }
  return sum;
}

double unix_seconds() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

void measure_idle(const agents& all, double seconds) {
  const auto before = read_all(all);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const auto after = read_all(all);
  const double each = static_cast<double>(all.size()) * seconds;
  std::printf("idle, per agent: %.3f %% of a core, %.2f packets/s and %.0f bytes/s sent\n",
              100 * (after.processor - before.processor) / each,
              (after.packets - before.packets) / each, (after.bytes - before.bytes) / each);
}

void measure_crash(agents& all) {
  const auto victim = std::move(all.back());
  all.pop_back();
  const double killed = unix_seconds();
  victim->own().signal(SIGKILL);
  std::vector<double> noticed;
  for (const auto& each : all) {
    noticed.push_back(each->wait_for_event("failed", victim->name())["t"].number() - killed);
  }
  std::sort(noticed.begin(), noticed.end());
  std::printf("SIGKILL to `failed`: first %.2f s, median %.2f s, last %.2f s\n", noticed.front(),
              noticed[noticed.size() / 2], noticed.back());
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t size = argc > 1 ? std::stoul(argv[1]) : 5;
  const std::string profile = argc > 2 ? argv[2] : "lan";
  const double seconds = argc > 3 ? std::stod(argv[3]) : 20;
  try {
    const double begin = unix_seconds();
    auto all = form_cluster(size, {"--profile", profile});
    std::printf("%zu agents, profile %s: all started and of one view after %.2f s\n", size,
                profile.c_str(), unix_seconds() - begin);
    std::this_thread::sleep_for(std::chrono::seconds(5));  // The news of the joins runs out.
    measure_idle(all, seconds);
    measure_crash(all);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "measure_agents: %s\n", error.what());
    return 1;
  }
}
