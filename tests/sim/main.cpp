// lifering-sim: runs scenarios, and sweeps of seeds over them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "sim/paper.hpp"
#include "sim/random_scenario.hpp"
#include "sim/report.hpp"
#include "sim/simulation.hpp"
#include "sim/sweep.hpp"

namespace lifering::sim {
namespace {

constexpr char usage[] =
    "lifering-sim run SCENARIO [--seed S] [--json] [--trace] [--mask FAULT]... [--print]\n"
    "lifering-sim sweep SCENARIO --seeds A..B [--jobs J] [--mask FAULT]... [--verbose]\n"
    "lifering-sim paper TABLE [--sample] [--seed S] [--jobs J]\n";

/// A mistake in the command line.
struct usage_error {
  std::string text;
};

struct command_line {
  std::string command;
  std::string subject;
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  unsigned jobs = 1;
  bool json = false;
  bool trace = false;
  bool print = false;
  bool verbose = false;
  bool sample = false;
  std::vector<std::string> masked;
};

std::uint64_t parse_count(std::string_view text) {
  std::uint64_t value = 0;
  if (text.empty() || text.size() > 18) throw usage_error{"\"" + std::string(text) + "\""};
  for (const char c : text) {
    if (c < '0' || c > '9') throw usage_error{"\"" + std::string(text) + "\" is no number"};
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

command_line parse_command_line(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) throw usage_error{"a command and its subject are needed"};
  command_line result;
  result.command = words[0];
  result.subject = words[1];
  for (std::size_t i = 2; i < words.size(); ++i) {
    const auto value = [&]() -> const std::string& {
      if (++i == words.size()) throw usage_error{words[i - 1] + " needs a value"};
      return words[i];
    };
    if (words[i] == "--seed") {
      result.seed = parse_count(value());
    } else if (words[i] == "--seeds") {
      const std::string range = value();
      const auto dots = range.find("..");
      result.first = parse_count(range.substr(0, dots));
      result.last = dots == std::string::npos ? result.first : parse_count(range.substr(dots + 2));
    } else if (words[i] == "--jobs") {
      result.jobs = static_cast<unsigned>(std::min<std::uint64_t>(parse_count(value()), 256));
    } else if (words[i] == "--mask") {
      result.masked.push_back(value());
    } else if (words[i] == "--json") {
      result.json = true;
    } else if (words[i] == "--trace") {
      result.trace = true;
    } else if (words[i] == "--print") {
      result.print = true;
    } else if (words[i] == "--verbose") {
      result.verbose = true;
    } else if (words[i] == "--sample") {
      result.sample = true;
    } else {
      throw usage_error{"\"" + words[i] + "\" is no option"};
    }
  }
  return result;
}

scenario load(const command_line& given) {
  scenario loaded = load_scenario(given.subject);
  if (given.masked.empty()) return loaded;
  if (!loaded.random) throw usage_error{"only a random scenario has faults to mask"};
  if (const auto unknown = unknown_fault(given.masked); !unknown.empty()) {
    throw usage_error{"\"" + unknown + "\" is no fault that is drawn"};
  }
  auto& masked = loaded.random->masked;
  masked.insert(masked.end(), given.masked.begin(), given.masked.end());
  return loaded;
}

int run(const command_line& given) {
  const scenario concrete = drawn_from(load(given), given.seed);
  if (given.print) {
    std::fputs(to_text(concrete).c_str(), stdout);
    return 0;
  }
  simulation one(concrete, given.seed);
  if (given.trace) {
    one.print_to([](std::string_view line) {
      std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
    });
  }
  const auto begin = std::chrono::steady_clock::now();
  result found = one.run();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  found.wall_s = wall.count();
  std::fputs(given.json ? to_json(found).append("\n").c_str() : to_text(found).c_str(), stdout);
  if (found.passed()) return 0;
  std::fprintf(stderr, "%s\nreplay: %s\n", first_fault(found).c_str(), replay_line(found).c_str());
  return 1;
}

int sweep(const command_line& given) {
  if (given.first > given.last || given.last == 0) throw usage_error{"--seeds A..B is needed"};
  const scenario loaded = load(given);
  const auto found = run_sweep(loaded, {given.first, given.last, given.jobs, given.verbose});
  std::printf("%llu seeds, %llu failed\n", static_cast<unsigned long long>(found.runs),
              static_cast<unsigned long long>(found.failed));
  for (const auto& [name, sum] : found.sums)
    std::printf("  %-26s %12llu in %llu seeds\n", name.c_str(),
                static_cast<unsigned long long>(sum),
                static_cast<unsigned long long>(found.seeds.at(name)));
  for (const auto& [name, values] : found.samples) {
    std::printf("  %-26s p50 %llu, p99 %llu, max %llu of %llu\n", name.c_str(),
                static_cast<unsigned long long>(values.percentile(50)),
                static_cast<unsigned long long>(values.percentile(99)),
                static_cast<unsigned long long>(values.max()),
                static_cast<unsigned long long>(values.count()));
  }
  if (found.failed > 0) return 1;
  // A sweep in which nothing happened proves nothing.
  if (loaded.random && found.runs >= 100) {
    if (const auto missing = unseen(found, *loaded.random); !missing.empty()) {
      std::fprintf(stderr, "never seen in this sweep: %s\n", missing.c_str());
      return 1;
    }
  }
  return 0;
}

int dispatch(int argc, char** argv) {
  if (std::find(argv, argv + argc, std::string_view("--help")) != argv + argc) {
    std::fputs(usage, stdout);
    return 0;
  }
  const command_line given = parse_command_line(argc, argv);
  if (given.command == "run") return run(given);
  if (given.command == "sweep") return sweep(given);
  if (given.command == "paper") {
    return reproduce(given.subject, {given.sample, given.seed, given.jobs});
  }
  throw usage_error{"\"" + given.command + "\" is no command"};
}

}  // namespace
}  // namespace lifering::sim

int main(int argc, char** argv) {
  using namespace lifering::sim;
  try {
    return dispatch(argc, argv);
  } catch (const usage_error& error) {
    std::fprintf(stderr, "%s\n%s", error.text.c_str(), usage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
