// The names of what is counted, and Prometheus' text form.
#include <array>
#include <bit>
#include <charconv>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "cluster/numbers.hpp"
#include "support/catch.hpp"

using lifering::metric;
using lifering::to_prometheus;
using lifering::cluster_detail::numbers;
using lifering::cluster_detail::to_metrics;

TEST_CASE("every metric has a name of its own and a sentence", "[metrics]") {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const auto& row : to_metrics(numbers{})) {
    INFO(row.name << ' ' << row.reason);
    CHECK(seen.insert({row.name, row.reason}).second);
    CHECK(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
    CHECK(row.help.ends_with('.'));
  }
}

TEST_CASE("no counter of the floors below is left out", "[metrics]") {
  // Each counter gets another value, by its place in its struct, and each value must come out.
  numbers all;
  std::uint64_t next = 1'000;
  const auto fill = [&next](auto& counters) {
    using counters_type = std::remove_reference_t<decltype(counters)>;
    static_assert(sizeof counters % sizeof(std::uint64_t) == 0);
    std::array<std::uint64_t, sizeof counters / sizeof(std::uint64_t)> values{};
    for (auto& value : values)
      value = next++;
    counters = std::bit_cast<counters_type>(values);
  };
  fill(all.machine);
  fill(all.machine_now);
  fill(all.transport);
  fill(all.transport_now);
  std::set<std::uint64_t> shown;
  for (const auto& row : to_metrics(all))
    shown.insert(row.value);
  for (std::uint64_t value = 1'000; value < next; ++value) {
    INFO("counter number " << value - 1'000);
    CHECK(shown.contains(value));
  }
}

namespace {

struct family {
  std::string help;
  std::string type;
  std::map<std::string, std::string> values;  // By labels.
};

/// Reads the text as a scraper does, and checks every rule of the format on the way.
std::map<std::string, family> scrape(const std::string& text) {
  const std::string name = "[a-zA-Z_:][a-zA-Z0-9_:]*";
  const std::string label = "[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\\\n]|\\\\[\\\\\"n])*\"";
  const std::regex help_line("# HELP (" + name + ") ((?:[^\\\\]|\\\\[\\\\n])*)");
  const std::regex type_line("# TYPE (" + name + ") (counter|gauge)");
  const std::regex value_line("(" + name + ")(?:\\{(" + label + "(?:," + label +
                              ")*)\\})? ([0-9]+(?:\\.[0-9]+)?)");
  std::map<std::string, family> all;
  std::string current;
  REQUIRE(text.ends_with('\n'));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    std::smatch found;
    if (std::regex_match(line, found, help_line)) {
      current = found[1];
      REQUIRE(all.emplace(current, family{found[2], {}, {}}).second);  // All of one name together.
    } else if (std::regex_match(line, found, type_line)) {
      REQUIRE(found[1] == current);
      REQUIRE((all[current].type.empty() && all[current].values.empty()));
      all[current].type = found[2];
    } else {
      REQUIRE(std::regex_match(line, found, value_line));
      REQUIRE(found[1] == current);
      REQUIRE_FALSE(all[current].type.empty());
      REQUIRE(all[current].values.emplace(found[2], found[3]).second);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a scraper understands every line, name, type and unit", "[metrics]") {
  numbers some;
  some.machine_now.round_trip = 1'500;
  some.machine.round_trip_microseconds = 12'000'007;
  some.machine_now.queued_failures = 4;
  some.view_digest = ~std::uint64_t{0};
  const auto rows = to_metrics(some);
  const auto all = scrape(to_prometheus(rows, "cluster=\"a\\\\b\\\"c\\n\",zone=\"\""));
  std::size_t values = 0;
  for (const auto& [name, each] : all) {
    INFO(name);
    values += each.values.size();
    CHECK(name.starts_with("lifering_"));
    CHECK((each.type == "counter") == name.ends_with("_total"));
    CHECK(each.help.ends_with('.'));
    CHECK(name.find("microseconds") == std::string::npos);
  }
  CHECK(values == rows.size());
  const std::string labels = "cluster=\"a\\\\b\\\"c\\n\",zone=\"\"";
  CHECK(all.at("lifering_round_trip_seconds").values.at(labels) == "0.001500");
  CHECK(all.at("lifering_round_trip_sum_seconds_total").values.at(labels) == "12.000007");
  CHECK(all.at("lifering_view_digest").values.at(labels) == "18446744073709551615");
  CHECK(all.at("lifering_queued_updates").values.at(labels + ",reason=\"failure\"") == "4");
}

TEST_CASE("what could end a line or a label early is escaped", "[metrics]") {
  const std::vector<metric> rows{{"odd", "a\"b\\c\nd", "One\nline \\ \"two\".", false, 1}};
  CHECK(to_prometheus(rows) ==
        "# HELP lifering_odd One\\nline \\\\ \"two\".\n"
        "# TYPE lifering_odd gauge\n"
        "lifering_odd{reason=\"a\\\"b\\\\c\\nd\"} 1\n");
  CHECK(scrape(to_prometheus(rows)).size() == 1);
}

TEST_CASE("the text for Prometheus is in its format", "[metrics]") {
  const std::vector<metric> rows{
      {"members_alive", "", "Members that answer.", false, 3},
      {"dropped", "malformed", "Dropped input.", true, 1},
      {"dropped", "too_large", "Dropped input.", true, 18446744073709551615U},
  };
  CHECK(to_prometheus(rows) ==
        "# HELP lifering_members_alive Members that answer.\n"
        "# TYPE lifering_members_alive gauge\n"
        "lifering_members_alive 3\n"
        "# HELP lifering_dropped_total Dropped input.\n"
        "# TYPE lifering_dropped_total counter\n"
        "lifering_dropped_total{reason=\"malformed\"} 1\n"
        "lifering_dropped_total{reason=\"too_large\"} 18446744073709551615\n");
  CHECK(to_prometheus({&rows[1], 1}, "zone=\"a\"") ==
        "# HELP lifering_dropped_total Dropped input.\n"
        "# TYPE lifering_dropped_total counter\n"
        "lifering_dropped_total{zone=\"a\",reason=\"malformed\"} 1\n");
}
