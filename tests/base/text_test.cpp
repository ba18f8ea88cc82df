// Values in sentences and lines of the log.
#include "base/text.hpp"

#include "base/log.hpp"
#include "support/catch.hpp"

using namespace lifering;
using namespace lifering::base;

TEST_CASE("a quoted value can't break out of its quotes, and a long one is cut", "[base]") {
  CHECK(quoted("") == "\"\"");
  CHECK(quoted("10.0.0.1:80") == "\"10.0.0.1:80\"");
  CHECK(quoted("a\"b\\c\n\xc3\xa4\x7f") == "\"a\\x22b\\x5cc\\x0a\\xc3\\xa4\\x7f\"");
  CHECK(quoted(std::string(64, 'x')) == '"' + std::string(64, 'x') + '"');
  CHECK(quoted(std::string(65, 'x')) == '"' + std::string(64, 'x') + "...\" (65 bytes)");
  CHECK(quoted_start(std::string(65, 'x')) == '"' + std::string(64, 'x') + "...\"");
}

TEST_CASE("what is logged is one line, whatever a stranger put into it", "[base]") {
  std::string heard;
  const logger log([&](log_level, std::string_view line) { heard = line; }, log_level::info);
  log(log_level::info, "refused: a\nb\x1b[2J\t\x7f \xc3\xa4");
  CHECK(heard == "refused: a\\x0ab\\x1b[2J\\x09\\x7f \xc3\xa4");
  log(log_level::debug, "below the threshold");
  CHECK(heard.starts_with("refused"));
}
