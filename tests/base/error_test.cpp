// What people read: error messages and the words for states, phases, events and levels.
#include <lifering/error.hpp>
#include <lifering/event.hpp>
#include <lifering/member.hpp>
#include <lifering/options.hpp>
#include <set>
#include <string>
#include <string_view>

#include "support/catch.hpp"

using namespace lifering;

namespace {

/// The texts of 0, 1, .. up to the first value that has none, which must be `count`. The next two
/// must have none either, so a value added without its text shows.
template <class Enum>
std::set<std::string> words(int count) {
  std::set<std::string> found;
  for (int value = 0; value < count; ++value)
    found.emplace(to_string(static_cast<Enum>(value)));
  CHECK(to_string(static_cast<Enum>(count)) == "unknown");
  CHECK(to_string(static_cast<Enum>(count + 1)) == "unknown");
  return found;
}

}  // namespace

TEST_CASE("every error has a message of its own", "[base]") {
  std::set<std::string> messages;
  const int last = static_cast<int>(errc::wrong_key);
  for (int value = 1; value <= last; ++value) {
    const std::error_code code = static_cast<errc>(value);
    CAPTURE(value);
    CHECK(code);
    CHECK(code.message() != "unknown error");
    CHECK(code.message().size() > 10);
    CHECK(messages.insert(code.message()).second);
  }
  CHECK(error_category().message(0) == "unknown error");
  CHECK(error_category().message(last + 1) == "unknown error");
}

TEST_CASE("errors are of our category and convert to std::error_code by themselves", "[base]") {
  const std::error_code code = errc::name_in_use;
  CHECK(std::string(code.category().name()) == "lifering");
  CHECK(&code.category() == &error_category());
  CHECK(code == errc::name_in_use);
  CHECK(code != errc::wrong_cluster);
  CHECK(code != std::error_code(static_cast<int>(errc::name_in_use), std::generic_category()));
}

TEST_CASE("the throwing twin throws the code and the sentence, and nothing for no problem",
          "[base]") {
  CHECK_NOTHROW(throw_if(std::nullopt));
  try {
    throw_if(problem{errc::invalid_weight, "the weight is 0.001"});
    FAIL("nothing was thrown");
  } catch (const std::system_error& thrown) {
    CHECK(thrown.code() == errc::invalid_weight);
    // One sentence, to which nothing is added.
    CHECK(std::string(thrown.what()) == "the weight is 0.001");
    const std::system_error copy = thrown;
    CHECK(copy.code() == errc::invalid_weight);
  }
}

TEST_CASE("states, phases, events and levels have their names as words", "[base]") {
  CHECK(words<member_state>(4) == std::set<std::string>{"alive", "suspect", "failed", "left"});
  CHECK(words<member_phase>(3) == std::set<std::string>{"serving", "joining", "draining"});
  CHECK(words<event_kind>(8) == std::set<std::string>{"joined", "updated", "suspected", "recovered",
                                                      "failed", "left", "superseded", "isolated"});
  CHECK(words<log_level>(5) == std::set<std::string>{"debug", "info", "warning", "error", "off"});
  CHECK(to_string(member_state::suspect) == "suspect");
  CHECK(to_string(member_phase::draining) == "draining");
  CHECK(to_string(event_kind::superseded) == "superseded");
  CHECK(to_string(log_level::warning) == "warning");
}
