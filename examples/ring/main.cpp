// lifering-ring: the ring without a network. Which node owns a key, how even a placement is, and
// how fast.
#include <algorithm>
#include <exception>
#include <iostream>
#include <lifering/config.hpp>
#include <stdexcept>
#include <string_view>

#include "arguments.hpp"
#include "text.hpp"

namespace {

constexpr std::string_view help = R"(lifering-ring: who owns a key, without a network

  lifering-ring owner (--nodes a,b,c | --nodes-file F) (KEY ... | --keys-file F)
                [--replicas R] [--hex] [PLACEMENT]
      prints key<TAB>owner[<TAB>second owner...] a line. A nodes file has
      name[<TAB>weight[<TAB>zone[<TAB>id]]] a line, a keys file a key a line; with --hex,
      keys are read and printed in hexadecimal. In nodes files and in the output, bytes
      outside 0x21..0x7e and the backslash are written \xHH. A key without an owner
      has an empty second field. For other systems' placements the order of nodes is
      the order of servers, and ids are what they call them. kafka without nodes prints
      partitions, as slot does.

  lifering-ring slot (KEY ... | --keys-file F) [--hex] [--placement P]
      prints key<TAB>slot a line: of Redis Cluster, unless P is kafka:... or maglev.

  lifering-ring report --nodes N [--names ip|pod|padded|uuid] [--set S] [--plot FILE.svg]
                [PLACEMENT]
      prints as JSON how even the shares of N nodes are and what moves. Shares are
      relative to the fair share; S picks another set of names.

  lifering-ring bench [--nodes N] [--seconds S] [PLACEMENT]
      prints the time of a lookup, and lookups a second by one thread and by all cores.

PLACEMENT:
  --placement classic|mixed|slots   default classic
  --placement NAME[:option=value,...]   as another system places:
      nginx          method=consistent|modulo points=160 unit=1
      haproxy        hash=sdbm|djb2|wt6|crc32|none avalanche=on|off number=position|name
                     key=id|addr|addr-port|guid|id32 unit=1
      ketama         client=libmemcached|twemproxy weighted=on|off hash=md5|fnv1a_64|...
                     distribution=ketama|modula hash_tag=TWO-BYTES unit=1
      envoy_ring     min=1024 max=8388608 hash=xxhash64|murmur2 unit=1
      maglev         size=65537 unit=1
      redis_slots    tags=on|off ranges=0-8191@NODE;8192-16383@NODE
      kafka          partitions=N hash=murmur2|consistent|fnv1a assign=range|round_robin
  --vnodes N                        points a node, 1 to 65536, default 150
  --label TEXT                      default {node}#{i}
  --segments K                      slots: 2^K segments, 10 to 22, default 18
  --cap E                           slots: at most 1 + E times the fair share, 0.001 to 10

A flag's value follows as the next word or after a `=`. Exit code: 0, 2 for wrong use, 1 when
the output can't be written.
)";

/// Whether --help is among the words, wherever a flag may be.
bool asks_for_help(int count, char** words) {
  char** const end = std::find(words, words + count, std::string_view{"--"});
  return std::find(words, end, std::string_view{"--help"}) != end;
}

int run(int count, char** words) {
  const std::string_view command = count > 1 ? words[1] : "";
  if (command == "help" || asks_for_help(count, words)) {
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
  if (command == "slot") {
    return ring_tool::run_slot(rest);
  }
  if (command == "report") {
    return ring_tool::run_report(rest);
  }
  if (command == "bench") {
    return ring_tool::run_bench(rest);
  }
  throw ring_tool::usage_error(
      command.empty() ? "a command is missing: owner, slot, report or bench (--help)"
                      : "command \"" + std::string{command} +
                            "\" is unknown; use owner, slot, report or bench (--help)");
}

}  // namespace

int main(int count, char** words) {
  try {
    const int code = run(count, words);
    std::cout.flush();
    if (!std::cout) {
      throw std::runtime_error("what was asked for can't be written to stdout");
    }
    return code;
  } catch (const ring_tool::usage_error& error) {
    std::cerr << "lifering-ring: " << ring_tool::in_one_line(error.what()) << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "lifering-ring: " << error.what() << '\n';
    return 1;
  }
}
