// The names of what is counted, and Prometheus' text form.
#include <array>
#include <bit>
#include <set>

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
