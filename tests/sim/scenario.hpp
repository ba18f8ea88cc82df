// A scenario: what a simulated cluster goes through, and what is expected of it. README.md in this
// folder has the language.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/network.hpp"
#include "sim/node_set.hpp"
#include "sim/profile.hpp"
#include "sim/quantity.hpp"

namespace lifering::sim {

/// Something that a scenario makes happen.
struct happening {
  enum class kind : std::uint8_t {
    crash,
    vanish,
    cut,  ///< One way or, with `flag`, both.
    loss_out,
    loss_in,
    pause,
    jerk,  ///< Paused again and again: awake for `awake`, asleep for `asleep`.
    block,
    heal,
    start,    ///< Of members that were absent.
    restart,  ///< `flag`: at a new address.
    leave,
    set_weight,
    metadata,
    ready,
    drain,
    broadcast,
    forget,  ///< `who` is forgotten, `other` says so.
  };

  kind what{};
  base::duration at{};
  node_set who;
  node_set other;
  std::optional<base::duration> length;
  base::duration awake{};
  base::duration asleep{};
  ppm loss = 0;
  bool flag = false;
  lifering::weight weight{};
  std::string text;

  /// Whether the members' views or the network are different from then on.
  bool disturbs() const noexcept { return what != kind::broadcast; }

  friend bool operator==(const happening&, const happening&) = default;
};

struct expectation {
  enum class kind : std::uint8_t {
    agree,
    no_false_failures,
    no_suspicions,
    no_failures_of,
    failed_everywhere,
    left_everywhere,
    joined_everywhere,
    known_everywhere,  ///< Every member has the newest record.
    delivered_everywhere,
    one_event_everywhere,
    changes_at_most,
    ring_versions_at_most,
    disagreement_at_most,
    rows_at_most,
    packets_at_most,
    bytes_at_most,
    health_at_most,
    isolated,
  };

  kind what{};
  int line = 0;
  node_set who;
  base::duration within{};
  base::duration moment{};  ///< `of T` or `after T`.
  std::uint64_t limit = 0;
  std::string text;

  friend bool operator==(const expectation& a, const expectation& b) {
    return a.what == b.what && a.who == b.who && a.within == b.within && a.moment == b.moment &&
           a.limit == b.limit && a.text == b.text;
  }
};

/// `random 2..40 for 60s`: sizes and faults are drawn from the seed.
struct random_part {
  node_id nodes_min = 2;
  node_id nodes_max = 40;
  base::duration length{};
  std::vector<std::string> masked;  ///< Faults that are drawn, but don't happen.
  friend bool operator==(const random_part&, const random_part&) = default;
};

struct scenario {
  std::string name;
  node_id nodes = 0;
  bool formed = false;
  base::duration start_apart{};
  node_set absent;   ///< Don't start by themselves.
  node_set joining;  ///< Own nothing until they are told `ready`, in each of their lives.
  node_set seeds{1};
  std::string profile_name = "lan";
  sim::profile profile{};
  std::vector<std::string> adjustments;  ///< The lines `set` and `without`, as written.
  unsigned zones = 0;                    ///< Members are spread over this many.
  base::duration until{};
  std::optional<random_part> random;
  std::vector<std::string> masked;  ///< What was masked when it was drawn, to draw it again.
  std::vector<happening> happenings;
  std::vector<expectation> expectations;
};

/// What is wrong with a scenario, fit for one line: "quick.scenario:3: ...".
class scenario_error : public std::runtime_error {
 public:
  /// `line` is 0 for the whole file.
  scenario_error(std::string_view name, int line, std::string_view text);
};

/// Reads a scenario. Throws scenario_error.
scenario parse_scenario(std::string_view text, std::string_view name);

/// Reads a scenario from a file. Throws scenario_error, also if it can't be read.
scenario load_scenario(const std::string& path);

/// A scenario as text that parse_scenario() reads back: how a random one is seen and shrunk.
std::string to_text(const scenario& from);
std::string to_text(const happening& from);
std::string to_text(const expectation& from);

}  // namespace lifering::sim
