// lifering-ring: the ring without a network. Which node owns a key, how even a placement is, and
// how fast.
#include <algorithm>
#include <exception>
#include <iostream>
#include <lifering/config.hpp>
#include <string_view>

#include "arguments.hpp"

namespace {

constexpr std::string_view help = R"(lifering-ring: who owns a key, without a network

  lifering-ring owner (--nodes a,b,c | --nodes-file F) (KEY ... | --keys-file F)
                [--replicas R] [--hex] [PLACEMENT]
      prints key<TAB>owner[<TAB>second owner...] a line. A nodes file has
      name[<TAB>weight[<TAB>zone]] a line, a keys file a key a line; with --hex, keys
      are read and printed in hexadecimal. In nodes files and in the output, bytes
      outside 0x21..0x7e and the backslash are written \xHH. A key without an owner
      has an empty second field.

  lifering-ring report --nodes N [--names ip|pod|padded|uuid] [--set S] [--plot FILE.svg]
                [PLACEMENT]
      prints as JSON how even the shares of N nodes are and what moves. Shares are
      relative to the fair share; S picks another set of names.

  lifering-ring bench [--nodes N] [--seconds S] [PLACEMENT]
      prints the time of a lookup, and lookups a second by one thread and by all cores.

PLACEMENT:
  --placement classic|mixed|slots   default classic
  --vnodes N                        points a node, 1 to 65536, default 150
  --label TEXT                      default {node}#{i}
  --segments K                      slots: 2^K segments, 10 to 22, default 18
  --cap E                           slots: at most 1 + E times the fair share, 0.01 to 10

Exit code: 0, or 2 for wrong use.
)";

int run(int count, char** words) {
  const std::string_view command = count > 1 ? words[1] : "";
  if (command == "--help" || command == "help") {
    std::cout << help;
    return 0;
  }
  if (command == "--version") {
    std::cout << "lifering-ring " << LIFERING_VERSION_MAJOR << '.' << LIFERING_VERSION_MINOR << '.'
              << LIFERING_VERSION_PATCH << '\n';
    return 0;
  }
  const ring_tool::arguments rest{words + std::min(count, 2), words + count};
  if (command == "owner") {
    return ring_tool::run_owner(rest);
  }
  if (command == "report") {
    return ring_tool::run_report(rest);
  }
  if (command == "bench") {
    return ring_tool::run_bench(rest);
  }
  throw ring_tool::usage_error(command.empty()
                                   ? "a command is missing: owner, report or bench (--help)"
                                   : "command \"" + std::string{command} +
                                         "\" is unknown; use owner, report or bench (--help)");
}

}  // namespace

int main(int count, char** words) {
  try {
    const int code = run(count, words);
    std::cout.flush();
    return std::cout ? code : 1;
  } catch (const ring_tool::usage_error& error) {
    std::cerr << "lifering-ring: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "lifering-ring: " << error.what() << '\n';
    return 1;
  }
}
