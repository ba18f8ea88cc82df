// Any text as a scenario: it is refused with a line and a reason, or it means what its text means.
#include "sim/scenario.hpp"

#include <string>

#include "fuzz/fuzz_target.hpp"

namespace lifering::fuzz {

void run(bytes_view input) {
  if (input.size() > 4'096) return;
  try {
    const auto read = sim::parse_scenario(as_text(input), "x");
    const auto text = sim::to_text(read);
    LIFERING_CHECK(sim::to_text(sim::parse_scenario(text, "x")) == text);
  } catch (const sim::scenario_error& error) {
    LIFERING_CHECK(std::string_view(error.what()).starts_with("x:"));
  }
}

}  // namespace lifering::fuzz
