// How often what strangers cause is written down.
#include "base/limited_log.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::base;
using namespace std::chrono_literals;

namespace {

enum class kind : std::uint8_t { noise, knocks, count_ };

}  // namespace

TEST_CASE("of each kind one line is written in 10 s, and the next says how many were left out",
          "[base]") {
  std::vector<std::string> lines;
  limited_log<kind> log(
      logger([&](log_level, std::string_view line) { lines.emplace_back(line); }, log_level::info));
  int made = 0;
  const auto at = [&](time_point when, kind what, log_level level = log_level::warning) {
    log(what, level, when, [&] {
      ++made;
      return std::string(what == kind::noise ? "noise" : "knocks");
    });
  };
  const time_point start{1h};
  at(start, kind::noise);
  for (int i = 1; i < 100'000; ++i)
    at(start + i * 99'999us, kind::noise, log_level::debug);  // not wanted, and not counted
  for (int i = 1; i <= 1000; ++i)
    at(start + i * 9'999us, kind::noise);
  CHECK(lines == std::vector<std::string>{"noise"});
  at(start + 9'999ms, kind::knocks);  // another kind has its own
  at(start + 10s - 1ns, kind::noise);
  CHECK(lines == std::vector<std::string>{"noise", "knocks"});
  at(start + 10s, kind::noise);
  CHECK(lines.back() == "noise (and 1001 such lines since the last one)");
  at(start + 20s, kind::noise);
  CHECK(lines.back() == "noise");
  CHECK(lines.size() == 4);
  CHECK(made == 4);  // what isn't written costs no text
}
