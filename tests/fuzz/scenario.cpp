// A file for the simulator: a sentence with a line number, or a scenario that reads back as itself.
#include "sim/scenario.hpp"

#include "fuzz/fuzz_target.hpp"

namespace lifering::fuzz {

void run(bytes_view input) {
  sim::scenario first;
  try {
    first = sim::parse_scenario(as_text(input), "fuzzed");
  } catch (const sim::scenario_error& error) {
    LIFERING_CHECK(std::string_view(error.what()).starts_with("fuzzed:"));
    return;
  }
  if (first.random) return;  // Its faults are drawn later, and have no text of their own.
  LIFERING_CHECK(first.nodes > 0 && first.until > base::duration::zero());
  // What the simulator prints for the one who is to repeat a run.
  const auto text = sim::to_text(first);
  const auto again = sim::parse_scenario(text, "printed");
  LIFERING_CHECK(again.nodes == first.nodes && again.formed == first.formed);
  LIFERING_CHECK(again.until == first.until && again.start_apart == first.start_apart);
  LIFERING_CHECK(again.seeds == first.seeds && again.absent == first.absent);
  LIFERING_CHECK(again.happenings == first.happenings);
  LIFERING_CHECK(again.expectations == first.expectations);
  LIFERING_CHECK(sim::to_text(again) == text);
}

}  // namespace lifering::fuzz
