// From text to a scenario. Every fault is reported with its line.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "sim/line_reader.hpp"
#include "sim/random_scenario.hpp"
#include "sim/scenario.hpp"
#include "swim/message.hpp"

namespace lifering::sim {
namespace {

using kind = happening::kind;
using wanted = expectation::kind;

/// `for D`, if it follows.
void read_length(line_reader& line, happening& to, bool required) {
  if (required) line.expect("for");
  if (required || line.accept("for")) to.length = line.take_duration("duration");
}

void read_cut(line_reader& line, happening& to) {
  to.what = kind::cut;
  to.who = line.take_nodes();
  if (line.accept("|")) {
    to.flag = true;
  } else if (!line.accept("->")) {
    line.fail("a cut is written A | B (both ways) or A -> B (one way)");
  }
  to.other = line.take_nodes();
  read_length(line, to, false);
}

void read_loss(line_reader& line, happening& to) {
  to.who = line.take_nodes();
  const std::string way = line.take_word("in or out");
  if (way != "in" && way != "out") line.fail("a member loses in or out, not \"" + way + "\"");
  to.what = way == "in" ? kind::loss_in : kind::loss_out;
  to.loss = line.take_probability("probability");
  read_length(line, to, false);
}

/// The bytes themselves, or so many of some that differ with their number.
void read_metadata(line_reader& line, happening& to) {
  if (!line.accept("of")) {
    to.text = line.take_quoted("metadata");
    return;
  }
  const auto size = line.take_number("number of bytes", 1, swim::metadata_max);
  line.expect("bytes");
  to.text = std::to_string(size);
  to.text.resize(size, 'm');
}

happening read_happening(line_reader& line) {
  happening result;
  result.at = line.take_duration("time");
  const std::string verb = line.take_word("what happens");
  const auto simple = [&](kind what) {
    result.what = what;
    result.who = line.take_nodes();
  };
  if (verb == "crash") {
    simple(kind::crash);
  } else if (verb == "vanish") {
    simple(kind::vanish);
  } else if (verb == "cut") {
    read_cut(line, result);
  } else if (verb == "loss") {
    read_loss(line, result);
  } else if (verb == "pause" || verb == "block") {
    simple(verb == "pause" ? kind::pause : kind::block);
    read_length(line, result, true);
  } else if (verb == "jerk") {
    simple(kind::jerk);
    line.expect("awake");
    result.awake = line.take_duration("duration");
    line.expect("asleep");
    result.asleep = line.take_duration("duration");
    read_length(line, result, true);
    if (result.awake + result.asleep <= base::duration::zero()) line.fail("that takes no time");
  } else if (verb == "heal") {
    result.what = kind::heal;
  } else if (verb == "start") {
    simple(kind::start);
  } else if (verb == "restart") {
    simple(kind::restart);
    result.flag = line.accept("moved");
  } else if (verb == "leave") {
    simple(kind::leave);
  } else if (verb == "weight") {
    simple(kind::set_weight);
    result.weight = line.take_weight();
  } else if (verb == "metadata") {
    simple(kind::metadata);
    read_metadata(line, result);
  } else if (verb == "ready") {
    simple(kind::ready);
  } else if (verb == "drain") {
    simple(kind::drain);
  } else if (verb == "broadcast") {
    simple(kind::broadcast);
    result.text = line.take_quoted("the message");
  } else if (verb == "forget") {
    simple(kind::forget);
    line.expect("by");
    result.other = line.take_nodes();
  } else {
    line.fail("\"" + verb + "\" is nothing that can happen");
  }
  return result;
}

void read_window(line_reader& line, expectation& to) {
  line.expect("within");
  to.within = line.take_duration("duration");
  line.expect("of");
  to.moment = line.take_duration("time");
}

void read_after(line_reader& line, expectation& to, bool required) {
  if (required) line.expect("after");
  if (required || line.accept("after")) to.moment = line.take_duration("time");
}

/// `expect at most ...`
void read_at_most(line_reader& line, expectation& to) {
  const std::string amount = line.take_word("an amount");
  if (const auto time = parse_duration(amount); time && amount != "0") {
    line.expect("disagreement");
    to.what = wanted::disagreement_at_most;
    to.within = *time;
    return read_after(line, to, false);
  }
  const bool is_number =
      !amount.empty() && amount.size() <= 9 &&
      std::all_of(amount.begin(), amount.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) line.fail("\"" + amount + "\" is no amount");
  to.limit = std::stoull(amount);
  const std::string what = line.take_word("what there may be");
  if (what == "rows") {
    to.what = wanted::rows_at_most;
    return;
  }
  if (what == "packets" || what == "bytes") {
    to.what = what == "bytes" ? wanted::bytes_at_most : wanted::packets_at_most;
    line.expect("per");
    line.expect("second");
  } else if (what == "health") {
    to.what = wanted::health_at_most;
  } else if (what == "ring") {
    to.what = wanted::ring_versions_at_most;
    line.expect("versions");
  } else if (what == "changes") {
    to.what = wanted::changes_at_most;
    line.expect("of");
    to.who = line.take_nodes();
    line.expect("everywhere");
  } else {
    line.fail("\"" + what + "\" can't be bounded");
  }
  read_after(line, to, false);
}

/// `expect no ...`
void read_none(line_reader& line, expectation& to) {
  if (line.accept("false")) {
    line.expect("failures");
    to.what = wanted::no_false_failures;
  } else if (line.accept("suspicions")) {
    to.what = wanted::no_suspicions;
  } else {
    line.expect("failures");
    line.expect("of");
    to.what = wanted::no_failures_of;
    to.who = line.take_nodes();
  }
  read_after(line, to, false);
}

/// `expect failed 3-5 everywhere within 4s of 10s` and its kin.
void read_everywhere(line_reader& line, const std::string& word, expectation& to) {
  if (word == "failed") {
    to.what = wanted::failed_everywhere;
  } else if (word == "left") {
    to.what = wanted::left_everywhere;
  } else if (word == "joined") {
    to.what = wanted::joined_everywhere;
  } else if (word == "known") {
    to.what = wanted::known_everywhere;
  } else {
    line.fail("\"" + word + "\" can't be expected");
  }
  to.who = line.take_nodes();
  line.expect("everywhere");
  read_window(line, to);
}

expectation read_expectation(line_reader& line) {
  expectation result;
  result.line = line.number();
  const std::string word = line.take_word("what is expected");
  if (word == "agree") {
    result.what = wanted::agree;
    read_window(line, result);
  } else if (word == "no") {
    read_none(line, result);
  } else if (word == "at") {
    line.expect("most");
    read_at_most(line, result);
  } else if (word == "delivered") {
    result.what = wanted::delivered_everywhere;
    result.text = line.take_quoted("the message");
    line.expect("everywhere");
    read_window(line, result);
  } else if (word == "one") {
    result.what = wanted::one_event_everywhere;
    line.expect("event");
    line.expect("about");
    result.who = line.take_nodes();
    line.expect("everywhere");
    read_after(line, result, true);
  } else if (word == "isolated") {
    result.what = wanted::isolated;
    result.who = line.take_nodes();
    read_window(line, result);
  } else {
    read_everywhere(line, word, result);
  }
  return result;
}

void read_nodes(line_reader& line, scenario& to) {
  to.nodes = static_cast<node_id>(line.take_number("number of members", 1, node_limit));
  to.formed = line.accept("formed");
}

void read_latency(line_reader& line, scenario& to) {
  const std::string word = line.take_word("a latency");
  const auto dots = word.find("..");
  const auto min = parse_duration(std::string_view(word).substr(0, dots));
  const auto max =
      dots == std::string::npos ? min : parse_duration(std::string_view(word).substr(dots + 2));
  if (!min || !max || *min > *max) {
    line.fail("\"" + word + "\" is no latency; 1ms and 0.2ms..2ms would be");
  }
  to.profile.network.latency_min = *min;
  to.profile.network.latency_max = *max;
}

void read_random(line_reader& line, scenario& to) {
  random_part part;
  const std::string word = line.take_word("a range of sizes");
  const auto dots = word.find("..");
  const auto min = node_set::parse(word.substr(0, dots));
  const auto max = dots == std::string::npos ? min : node_set::parse(word.substr(dots + 2));
  if (!min || !max || min->greatest() < 2 || min->greatest() > max->greatest()) {
    line.fail("\"" + word + "\" is no range of sizes; 2..40 would be");
  }
  part.nodes_min = min->greatest();
  part.nodes_max = max->greatest();
  line.expect("for");
  part.length = line.take_duration("duration");
  if (part.length <= base::duration::zero()) line.fail("faults take some time");
  if (line.accept("mask")) {
    while (!line.empty())
      part.masked.push_back(line.take_word("a fault"));
    if (const auto unknown = unknown_fault(part.masked); !unknown.empty()) {
      line.fail("\"" + unknown + "\" is no fault that is drawn");
    }
  }
  to.random = part;
}

void read_setting(const std::string& word, line_reader& line, scenario& to) {
  auto& network = to.profile.network;
  if (word == "nodes") {
    read_nodes(line, to);
  } else if (word == "start") {
    to.start_apart = line.take_duration("duration");
    line.expect("apart");
  } else if (word == "absent") {
    to.absent = line.take_nodes();
  } else if (word == "joining") {
    to.joining = line.take_nodes();
  } else if (word == "seeds") {
    to.seeds = line.take_nodes();
  } else if (word == "latency") {
    read_latency(line, to);
  } else if (word == "loss") {
    network.loss = line.take_probability("probability");
  } else if (word == "duplicate") {
    network.duplicate = line.take_probability("probability");
  } else if (word == "reorder") {
    network.reorder = line.take_probability("probability");
  } else if (word == "bandwidth") {
    network.bandwidth = line.take_number("number of bytes per second", 1000, 1'000'000'000'000);
  } else if (word == "buffer") {
    network.receive_buffer = line.take_number("number of bytes", 1000, 1'000'000'000);
  } else if (word == "datagram") {
    network.datagram = line.take_number("number of bytes", 512, 65'507);
    to.profile.machine.limits.datagram = network.datagram;
  } else if (word == "zones") {
    to.zones = static_cast<unsigned>(line.take_number("number of zones", 1, 1000));
  } else if (word == "without") {
    do {
      const std::string part = line.take_word("a part of the protocol");
      if (!switch_off(to.profile.machine.parts, part)) {
        line.fail("\"" + part + "\" is no part that can be switched off");
      }
      to.adjustments.push_back("without " + part);
    } while (!line.empty());
  } else if (word == "set") {
    const std::string name = line.take_word("a parameter");
    const std::string value = line.take_word("a value");
    if (!set_parameter(to.profile.machine, name, value)) {
      line.fail("\"" + name + " " + value + "\" sets no parameter");
    }
    to.adjustments.push_back("set " + name + " " + value);
  } else if (word == "until") {
    to.until = line.take_duration("time");
    if (to.until <= base::duration::zero()) line.fail("a scenario takes some time");
  } else if (word == "random") {
    read_random(line, to);
  } else {
    line.fail("\"" + word + "\" begins no line of a scenario");
  }
}

/// A profile overwrites all parameters, so it is read before the lines that change some.
void read_profiles(const std::vector<std::string_view>& lines, scenario& to) {
  int number = 0;
  for (const auto text : lines) {
    line_reader line(to.name, ++number, text);
    if (!line.accept("profile")) continue;
    to.profile_name = line.take_word("a profile");
    const auto found = find_profile(to.profile_name);
    if (!found) {
      line.fail("\"" + to.profile_name + "\" is no profile; lan, wan, local and memberlist are");
    }
    to.profile = *found;
    line.finish();
  }
}

/// Which lines said what.
struct lines_seen {
  std::vector<int> happenings;
  std::map<std::string, int> settings;  ///< By their first words.

  /// Of two lines that say one thing, one is a mistake.
  void note(const std::string& word, const line_reader& line) {
    if (word == "set" || word == "without") return;  // each sets another part
    const auto [before, first] = settings.emplace(word, line.number());
    if (!first) {
      line.fail("\"" + word + "\" was said in line " + std::to_string(before->second) + " already");
    }
  }
};

/// What a random scenario draws can't be said as well.
void check_random(const scenario& given, const lines_seen& seen) {
  const auto& masked = given.random->masked;
  for (const auto& [word, fault] : {std::pair{"nodes", ""},
                                    {"start", ""},
                                    {"until", ""},
                                    {"joining", "joining"},
                                    {"duplicate", "duplicate"},
                                    {"reorder", "reorder"}}) {
    const auto line = seen.settings.find(word);
    if (line == seen.settings.end()) continue;
    if (std::find(masked.begin(), masked.end(), fault) != masked.end()) continue;
    throw scenario_error(given.name, line->second,
                         "a random scenario draws \"" + std::string(word) + "\" itself");
  }
}

/// What can only be seen when all lines are read.
void check_whole(const scenario& given, const lines_seen& seen) {
  if (given.nodes == 0 && !given.random) {
    throw scenario_error(given.name, 1, "a scenario needs a line `nodes N`");
  }
  if (given.until <= base::duration::zero() && !given.random) {
    throw scenario_error(given.name, 1, "a scenario needs a line `until T`");
  }
  if (given.random) return check_random(given, seen);
  for (std::size_t i = 0; i < given.happenings.size(); ++i) {
    const happening& item = given.happenings[i];
    if (std::max(item.who.greatest(), item.other.greatest()) > given.nodes) {
      throw scenario_error(given.name, seen.happenings[i],
                           "there are only " + std::to_string(given.nodes) + " members");
    }
    if (item.at > given.until) {
      throw scenario_error(given.name, seen.happenings[i], "this is after the scenario's end");
    }
  }
  for (const auto& [word, who] :
       {std::pair{"absent", &given.absent}, {"seeds", &given.seeds}, {"joining", &given.joining}}) {
    const auto line = seen.settings.find(word);
    if (line != seen.settings.end() && who->greatest() > given.nodes) {
      throw scenario_error(given.name, line->second,
                           "there are only " + std::to_string(given.nodes) + " members");
    }
  }
  for (const expectation& item : given.expectations) {
    if (item.who.greatest() > given.nodes) {
      throw scenario_error(given.name, item.line,
                           "there are only " + std::to_string(given.nodes) + " members");
    }
    if (item.moment + item.within > given.until) {
      throw scenario_error(given.name, item.line, "the scenario ends before that is decided");
    }
  }
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

scenario_error::scenario_error(std::string_view name, int line, std::string_view text)
    : std::runtime_error(std::string(name) + (line > 0 ? ':' + std::to_string(line) : "") + ": " +
                         std::string(text)) {}

scenario parse_scenario(std::string_view text, std::string_view name) {
  scenario result;
  result.name = name;
  const auto lines = split_lines(text);
  read_profiles(lines, result);
  lines_seen seen;
  int number = 0;
  for (const auto content : lines) {
    line_reader line(name, ++number, content);
    if (line.empty()) continue;
    if (line.accept("profile")) {
      seen.note("profile", line);
      continue;
    }
    const std::string word = line.take_word("a line");
    if (word == "at") {
      result.happenings.push_back(read_happening(line));
      seen.happenings.push_back(number);
    } else if (word == "expect") {
      result.expectations.push_back(read_expectation(line));
    } else {
      read_setting(word, line, result);
      seen.note(word, line);
    }
    line.finish();
  }
  check_whole(result, seen);
  return result;
}

scenario load_scenario(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.peek();  // Of a folder, the first read fails, and the iterators would throw why.
  if (!file.is_open() || file.bad()) throw scenario_error(path, 0, "can't be read");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw scenario_error(path, 0, "can't be read");
  return parse_scenario(text, path);
}

}  // namespace lifering::sim
