// The scenario language: what it says, and what it says of mistakes.
#include "sim/scenario.hpp"

#include <string>
#include <utility>

#include "sim/random_scenario.hpp"
#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::sim;
using namespace std::chrono_literals;

namespace {

std::string fault_of(const std::string& text) {
  try {
    parse_scenario(text, "x");
  } catch (const scenario_error& error) {
    return error.what();
  }
  return "no fault";
}

}  // namespace

TEST_CASE("a scenario says what happens and what is expected", "[sim][scenario]") {
  const auto read = parse_scenario(R"(
nodes 20 formed            # a comment
set probe_interval 300ms
profile wan
latency 5ms..50ms
loss 0.05
start 0.1s apart
at 10s crash 3-5
at 20s cut 1-10 | 11-20 for 5s
at 21s cut 7 -> *
at 25s loss 7 out 0.8 for 20s
at 90s restart 4-5 moved
at 105s weight 14 0.5
at 110s broadcast 2 "hello # world"
until 200s
expect agree within 5s of 80s
expect failed 3-5 everywhere within 4s of 10s
expect no false failures after 30s
)",
                                   "x");
  CHECK(read.nodes == 20);
  CHECK(read.formed);
  CHECK(read.profile.machine.timing.probe_interval == 300ms);  // Whatever the order of lines.
  CHECK(read.profile.machine.timing.gossip_peers == 4);
  CHECK(read.profile.network.latency_max == 50ms);
  CHECK(read.profile.network.loss == 50'000);
  CHECK(read.start_apart == 100ms);
  REQUIRE(read.happenings.size() == 7);
  CHECK(read.happenings[1].flag);
  CHECK(read.happenings[1].length == 5s);
  CHECK_FALSE(read.happenings[2].flag);
  CHECK(read.happenings[2].other.is_all());
  CHECK(read.happenings[3].loss == 800'000);
  CHECK(read.happenings[4].flag);
  CHECK(read.happenings[6].text == "hello # world");
  REQUIRE(read.expectations.size() == 3);
  CHECK(read.expectations[0].within == 5s);
  CHECK(read.expectations[0].moment == 80s);
  CHECK(read.expectations[0].line == 16);
}

TEST_CASE("a wrong scenario gets one line with its line number", "[sim][scenario]") {
  const auto [text, fault] = GENERATE(table<std::string, std::string>({
      {"nodes 3\nuntil 10s\nwhatever", "x:3: \"whatever\" begins no line of a scenario"},
      {"nodes 3\nuntil ten", "x:2: \"ten\" is no time; 10s, 0.5s and 200ms would be"},
      {"nodes 0\nuntil 1s", "x:1: \"0\" is no number of members; 1 to 65535 would be"},
      {"until 1s", "x:1: a scenario needs a line `nodes N`"},
      {"nodes 3", "x:1: a scenario needs a line `until T`"},
      {"nodes 3\nuntil 9s\nat 1s crash 4", "x:3: there are only 3 members"},
      {"nodes 3\nuntil 9s\nat 10s crash 3", "x:3: this is after the scenario's end"},
      {"nodes 3\nuntil 9s\nat 1s explode 3", "x:3: \"explode\" is nothing that can happen"},
      {"nodes 3\nuntil 9s\nat 1s cut 1 & 2",
       "x:3: a cut is written A | B (both ways) or A -> B (one way)"},
      {"nodes 3\nuntil 9s\nat 1s pause 1", "x:3: expected \"for\" at the end"},
      {"nodes 3\nuntil 9s\nat 1s loss 1 out 1.5",
       "x:3: \"1.5\" is no probability; 0 to 1 would be"},
      {"nodes 3\nuntil 9s\nat 1s broadcast 1 hello", "x:3: the message must be in double quotes"},
      {"nodes 3\nuntil 9s\nat 1s broadcast 1 \"hello", "x:3: a quoted text has no end"},
      {"nodes 3\nuntil 9s\nat 1s heal now", "x:3: \"now\" is one word too many"},
      {"nodes 3\nuntil 9s\nprofile moon",
       "x:3: \"moon\" is no profile; lan, wan, local and memberlist are"},
      {"nodes 3\nuntil 9s\nwithout luck", "x:3: \"luck\" is no part that can be switched off"},
      {"nodes 3\nuntil 9s\nset luck 3", "x:3: \"luck 3\" sets no parameter"},
      {"nodes 3\nuntil 9s\nexpect agree within 5s of 5s",
       "x:3: the scenario ends before that is decided"},
      {"nodes 3\nuntil 9s\nexpect at most \"\" rows", "x:3: \"\" is no amount"},
      {"nodes 3\nuntil 9s\nlatency 3ms..2ms",
       "x:3: \"3ms..2ms\" is no latency; 1ms and 0.2ms..2ms would be"},
      {"nodes 3\nuntil 0s", "x:2: a scenario takes some time"},
      {"nodes 3\nuntil 9s\nnodes 4", "x:3: \"nodes\" was said in line 1 already"},
      {"profile lan\nnodes 3\nuntil 9s\nprofile wan",
       "x:4: \"profile\" was said in line 1 already"},
      {"nodes 3\nuntil 9s\nabsent 4", "x:3: there are only 3 members"},
      {"nodes 3\nseeds 1,4\nuntil 9s", "x:2: there are only 3 members"},
      {"random 9..3 for 60s", "x:1: \"9..3\" is no range of sizes; 2..40 would be"},
      {"random 2..9 for 60s mask rain", "x:1: \"rain\" is no fault that is drawn"},
      {"random 2..9 for 0s", "x:1: faults take some time"},
      {"random 2..9 for 60s\nnodes 5", "x:2: a random scenario draws \"nodes\" itself"},
      {"until 90s\nrandom 2..9 for 60s", "x:1: a random scenario draws \"until\" itself"},
      {"start 1s apart\nrandom 2..9 for 60s", "x:1: a random scenario draws \"start\" itself"},
      {"random 2..9 for 60s\nreorder 0.1", "x:2: a random scenario draws \"reorder\" itself"},
      {"random 2..9 for 60s mask duplicate reorder\nduplicate 0.1\nreorder 0.1", "no fault"},
      {"nodes 3\nuntil 9s\nat 1s metadata 1 of 0 bytes",
       "x:3: \"0\" is no number of bytes; 1 to 16384 would be"},
      {"nodes 3\njoining 4\nuntil 9s", "x:2: there are only 3 members"},
  }));
  CHECK(fault_of(text) == fault);
}

TEST_CASE("a parameter that would stop the machine or overflow it is refused", "[sim][scenario]") {
  const std::string text = GENERATE(
      as<std::string>{}, "probe_interval 0s", "probe_timeout 0s", "gossip_interval 0s",
      "stream_timeout 0s", "grave_time 0s", "suspicion_multiplier 0", "suspicion_stretch 0",
      "retransmit_multiplier 0", "members 0", "graves 0", "streams 0", "suspicions_per_interval 0",
      "probe_interval 1000h", "suspicion_multiplier 1000001", "members 18446744073709551616",
      "indirect_probes -1", "probe_interval 0.1ms");
  CHECK(fault_of("nodes 3\nuntil 9s\nset " + text) == "x:3: \"" + text + "\" sets no parameter");
  CHECK(fault_of("nodes 3\nuntil 9s\nset hold_down 0s\nset push_pull_interval 0s\n"
                 "set leave_acks 0\nset members 1000000") == "no fault");
}

TEST_CASE("durations are exact", "[sim][scenario]") {
  CHECK(parse_duration("0.2ms") == 200us);
  CHECK(parse_duration("0.000000001s") == 1ns);
  CHECK(parse_duration("10m") == 10min);
  CHECK(parse_duration("1h") == 1h);
  CHECK(parse_duration("0") == 0s);
  for (const char* wrong : {"", "s", "5", "-1s", "1.s", ".5s", "0.0000000001s", "1e3s", "1.5h"})
    CHECK_FALSE(parse_duration(wrong));
  for (const auto value :
       std::initializer_list<base::duration>{0ns, 1ns, 200us, 1500ms, 10min, 10h, 1s + 1ns, -5ms}) {
    if (value >= 0ns) CHECK(parse_duration(to_string(value)) == value);
  }
  CHECK(to_string(base::duration(-5ms)) == "-5ms");
}

TEST_CASE("a drawn scenario is written as text that reads back the same", "[sim][scenario]") {
  const auto random = parse_scenario("random 2..40 for 60s\nset probe_interval 400ms\n", "x");
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto drawn = drawn_from(random, seed);
    const auto read = parse_scenario(to_text(drawn), "x");
    CHECK(read.nodes == drawn.nodes);
    CHECK(read.joining == drawn.joining);
    CHECK(read.happenings == drawn.happenings);
    CHECK(read.expectations == drawn.expectations);
    CHECK(read.profile.network == drawn.profile.network);
    CHECK(read.until == drawn.until);
    CHECK(read.profile.machine.timing == drawn.profile.machine.timing);
  }
}

TEST_CASE("masking one fault leaves all the others as they were", "[sim][scenario]") {
  const auto whole = parse_scenario("random 2..40 for 60s\n", "x");
  const auto masked = parse_scenario("random 2..40 for 60s mask cut pause\n", "x");
  using kind = happening::kind;
  std::size_t taken_out = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    auto expected = drawn_from(whole, seed);
    const auto found = drawn_from(masked, seed);
    taken_out += std::erase_if(expected.happenings, [](const happening& item) {
      const bool flap = item.what == kind::cut && !item.flag && item.other.is_all();
      return item.what == kind::pause || (item.what == kind::cut && !flap);
    });
    // One-way cuts to everybody may be cuts or flaps; compare what is neither.
    const auto others = [](const scenario& of) {
      auto list = of.happenings;
      std::erase_if(list, [](const happening& item) { return item.what == kind::cut; });
      return list;
    };
    CHECK(others(found) == others(expected));
    CHECK(found.nodes == expected.nodes);
  }
  CHECK(taken_out > 50);
}

TEST_CASE("seeds draw different scenarios, the same seed the same", "[sim][scenario]") {
  const auto random = parse_scenario("random 2..40 for 60s\n", "x");
  CHECK(to_text(drawn_from(random, 1)) == to_text(drawn_from(random, 1)));
  CHECK(to_text(drawn_from(random, 1)) != to_text(drawn_from(random, 2)));
}
