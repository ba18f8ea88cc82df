#include "sim/sweep.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "sim/random_scenario.hpp"
#include "sim/report.hpp"
#include "sim/simulation.hpp"

namespace lifering::sim {
namespace {

/// A child that runs some of the seeds and writes lines: "seed N", then "count NAME VALUE" and
/// "sample NAME VALUE"..., then "passed" or "failed WHY".
struct worker {
  pid_t process = -1;
  int pipe = -1;
  std::uint64_t next = 0;  ///< The seed to start with, if it has to be started again.
  std::uint64_t running = 0;
  bool between = true;  ///< No seed is under way.
  bool finished = false;
  std::string unread;
  counts of_seed;
  std::vector<std::pair<std::string, std::uint64_t>> samples;
};

void write_all(int to, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const auto written = ::write(to, text.data() + done, text.size() - done);
    if (written <= 0) _exit(3);
    done += static_cast<std::size_t>(written);
  }
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string sample_line(const char* name, std::optional<double> seconds) {
  if (!seconds) return {};
  return "sample " + std::string(name) + " " +
         std::to_string(static_cast<std::uint64_t>(*seconds * 1000)) + "\n";
}

void run_seed(const scenario& given, std::uint64_t seed, int to) {
  write_all(to, "seed " + std::to_string(seed) + "\n");
  const scenario concrete = drawn_from(given, seed);
  simulation run(concrete, seed);
  const result found = run.run();
  std::string text;
  for (const auto* list : {&found.counters, &found.events})
    for (const auto& [name, value] : *list)
      text.append("count ").append(name).append(" ").append(std::to_string(value)).append("\n");
  for (const auto& crash : found.crashes) {
    text += sample_line("crash_first_ms", crash.first_s);
    text += sample_line("crash_all_ms", crash.all_s);
  }
  text += sample_line("agree_ms", found.agree_s);
  text.append("sample false_failures ").append(std::to_string(found.false_failures)).append("\n");
  text.append("count members ").append(std::to_string(concrete.nodes)).append("\n");
  text.append(found.passed() ? "passed\n" : "failed " + one_line(first_fault(found)) + "\n");
  write_all(to, text);
}

class sweeper {
 public:
  sweeper(const scenario& given, const sweep_options& options)
      : scenario_(given), options_(options) {}

  sweep_result run() {
    workers_.resize(std::max(1U, options_.jobs));
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      workers_[i].next = options_.first + i;
      launch(workers_[i]);
    }
    while (std::any_of(workers_.begin(), workers_.end(),
                       [](const worker& item) { return !item.finished; })) {
      wait_for_news();
    }
    return result_;
  }

 private:
  void launch(worker& item) {
    if (item.next > options_.last) {
      item.finished = true;
      return;
    }
    int ends[2];
    LIFERING_CHECK(::pipe(ends) == 0);
    std::fflush(nullptr);
    item.process = ::fork();
    LIFERING_CHECK(item.process >= 0);
    if (item.process == 0) {
      ::close(ends[0]);
      for (std::uint64_t seed = item.next; seed <= options_.last; seed += workers_.size())
        run_seed(scenario_, seed, ends[1]);
      _exit(0);
    }
    ::close(ends[1]);
    item.pipe = ends[0];
    item.between = true;
  }

  void wait_for_news() {
    std::vector<pollfd> waits;
    for (const worker& item : workers_)
      waits.push_back({item.finished ? -1 : item.pipe, POLLIN, 0});
    ::poll(waits.data(), waits.size(), -1);
    for (std::size_t i = 0; i < workers_.size(); ++i)
      if (waits[i].revents != 0) read_from(workers_[i]);
  }

  void read_from(worker& item) {
    char buffer[4096];
    const auto size = ::read(item.pipe, buffer, sizeof buffer);
    if (size <= 0) return end_of(item);
    item.unread.append(buffer, static_cast<std::size_t>(size));
    std::size_t end = 0;
    while ((end = item.unread.find('\n')) != std::string::npos) {
      const std::string line = item.unread.substr(0, end);
      item.unread.erase(0, end + 1);
      understand(item, line);
    }
  }

  void understand(worker& item, const std::string& line) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "seed") {
      words >> item.running;
      item.between = false;
      item.of_seed.clear();
      item.samples.clear();
    } else if (word == "sample") {
      std::uint64_t value = 0;
      words >> word >> value;
      item.samples.emplace_back(word, value);
    } else if (word == "count") {
      std::uint64_t value = 0;
      words >> word >> value;
      item.of_seed[word] += value;
    } else {
      conclude(item, word == "passed" ? "" : line.substr(line.find(' ') + 1));
    }
  }

  void conclude(worker& item, const std::string& fault) {
    item.between = true;
    item.next = item.running + workers_.size();
    ++result_.runs;
    for (const auto& [name, value] : item.of_seed) {
      result_.sums[name] += value;
      result_.seeds[name] += value != 0 ? 1 : 0;
    }
    for (const auto& [name, value] : item.samples)
      result_.samples[name].add(value);
    if (!fault.empty()) {
      ++result_.failed;
      result of;
      of.scenario = scenario_.name;
      of.seed = item.running;
      if (scenario_.random) of.masked = scenario_.random->masked;
      std::fprintf(stderr, "seed %llu: %s\n  replay: %s\n",
                   static_cast<unsigned long long>(item.running), fault.c_str(),
                   replay_line(of).c_str());
    } else if (options_.verbose) {
      std::printf("seed %llu passed\n", static_cast<unsigned long long>(item.running));
    }
  }

  void end_of(worker& item) {
    ::close(item.pipe);
    int status = 0;
    ::waitpid(item.process, &status, 0);
    if (item.between && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      item.finished = true;
      return;
    }
    item.of_seed.clear();
    item.samples.clear();
    if (item.between) item.running = item.next;
    conclude(item, "the process died, status " + std::to_string(status));
    launch(item);
  }

  const scenario& scenario_;
  const sweep_options& options_;
  std::vector<worker> workers_;
  sweep_result result_;
};

}  // namespace

sweep_result run_sweep(const scenario& given, const sweep_options& options) {
  return sweeper(given, options).run();
}

std::string unseen(const sweep_result& of, const random_part& drawn) {
  const auto masked = [&](std::string_view fault) {
    return std::find(drawn.masked.begin(), drawn.masked.end(), fault) != drawn.masked.end();
  };
  const std::pair<const char*, const char*> needed[] = {
      {"datagrams_lost", "loss"},
      {"datagrams_duplicated", "duplicate"},
      {"datagrams_held_back", "reorder"},
      {"datagrams_cut", "cut"},
      {"datagrams_refused", "crash"},
      {"crashes", "crash"},
      {"restarts", ""},
      {"pauses", "pause"},
      {"jerks", "jerk"},
      {"late_wakes", "jerk"},
      {"blocks", "block"},
      {"leaves", "leave"},
      {"member_losses", "member_loss"},
      {"broadcasts", "broadcast"},
      {"drains", "drain"},
      {"readies", "ready"},
      {"forgets", "forget"},
      {"suspicions_raised", ""},
      {"suspicions_confirmed", ""},
      {"refutations", ""},
      {"failures_declared", ""},
      {"failed", ""},
      {"recovered", ""},
      {"left", "leave"},
      {"syncs_served", ""},
      {"stream_retries", "loss"},
      {"merges", "cut"},
  };
  std::string missing;
  for (const auto& [name, fault] : needed) {
    const auto found = of.sums.find(name);
    if ((found == of.sums.end() || found->second == 0) && !masked(fault)) {
      missing.append(missing.empty() ? "" : ", ").append(name);
    }
  }
  return missing;
}

}  // namespace lifering::sim
