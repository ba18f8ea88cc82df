#include "arguments.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <lifering/cluster.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#if defined(LIFERING_COMPAT)
#include <lifering/compat.hpp>
#endif

namespace {

constexpr std::string_view usage =
    R"(Usage: lifering-agent --name N --bind IP:PORT --cluster ID [option...]
       lifering-agent keygen      print a new key, for a key file

Runs one member of a lifering cluster. Events and answers are JSON objects, one a line, on stdout;
commands are lines on stdin; the log is on stderr. SIGTERM and SIGINT mean leave, then exit.

  --name N            this member's name; unique in the cluster, kept over restarts
  --bind IP:PORT      where to listen, UDP and TCP (port 7946 if none is given, 0: any free one)
  --cluster ID        the id that all members share
  --join HOST:PORT    a seed to join through; may be repeated
                      HOST, [IPV6]:PORT, an address, or a service: srv:_lifering._udp.DOMAIN
  --advertise A       where others reach us, if not at --bind: IP:PORT or HOST:PORT
  --allow NETWORK     hear only this network, as 10.0.0.0/8; may be repeated
  --name-server IP    ask this name server for names instead of the system's
  --key-file F        keys to seal with, one a line; readable by its owner alone
  --seal MODE         off (default), accept (send sealed, take both) or require
  --profile P         lan (default), wan or local: the protocol's timing
  --weight W          share of the ring: 0, or 0.01 to 100 (default 1)
  --zone Z            failure domain
  --meta TEXT         metadata that others see
  --service ADDRESS   where the application's own traffic goes
  --placement P       slots (default), mixed, classic, or another system's as lifering-ring takes
                      them: nginx, haproxy:key=addr-port, kafka:partitions=12, ...
  --vnodes N          classic, mixed: points of a node of weight 1 (default 150)
  --label L           classic, mixed: what is hashed for a point (default {node}#{i})
  --segments K        slots: 2^K segments (default 18)
  --cap E             slots: no node owns more than 1 + E of its fair share, as 0.05 (default: no cap)
  --log LEVEL         debug, info (default), warning, error or off
  --not-ready         own no keys until the command ready
  --quit-on-eof       exit when stdin ends
  --help, --version

Values follow as the next word or after a `=`. Exit code: 0 after leave, quit or a signal, 2 for
wrong use, 1 when another process took our name.

Commands, of which each is answered by one line, in order:
  members             who is here
  owner KEY           who owns the key, which is the rest of the line
  owners KEY N        the first N of the key's preference order
  fingerprint         the ring's; equal on members that agree
  stats               every counter and gauge
  set-meta TEXT       publish other metadata
  set-weight W        publish another weight
  set-service ADDRESS publish another service address
  ready, drain        take our share of the keys; give it away
  health good|bad     whether we can serve; bad gives the keys away after 3 s, good takes them after 10 s
  send NAME TEXT, send-reliably NAME TEXT, broadcast TEXT
                      messages; they come as events: {"event":"message","from":..,"kind":..,"text":..}
  graves              failed and left members that are remembered
  forget NAME         take a failed member for left everywhere
  agreement           whether the peers hold the same ring, and for how long they have
  key add KEY|FILE    hold one more key, in hexadecimal or base64, or those of a file
  key use ID          seal with this key; key remove ID: hold it no longer
  keys                the ids of the keys, the one that seals first
  seal MODE           off, accept or require
  leave               say goodbye, then exit
  quit                exit at once, without leaving
A byte that is no UTF-8 comes out as \udc80 to \udcff, as Python's surrogateescape reads it.
)";

using problem_text = std::optional<std::string>;

std::string in_quotes(std::string_view text) {
  return '"' + std::string(text) + '"';
}

template <class Number>
problem_text read_number(std::string_view flag, std::string_view text, Number& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  if (error == std::errc{} && end == text.data() + text.size()) return std::nullopt;
  return std::string(flag) + " takes a whole number up to " +
         std::to_string(std::numeric_limits<Number>::max()) + ", not " + in_quotes(text);
}

/// A decimal with up to three places, in thousandths.
problem_text read_cap(std::string_view text, std::uint32_t& to) {
  const std::size_t point = text.find('.');
  std::string digits(text.substr(0, point));
  std::string places(point == std::string_view::npos ? "" : text.substr(point + 1));
  const bool ends_well = point == std::string_view::npos || !places.empty();
  if (ends_well && places.size() <= 3 && !digits.empty() && digits.size() < 4) {
    places.resize(3, '0');
    if (!read_number("--cap", digits + places, to) && to <= 10'000) return std::nullopt;
  }
  return "--cap takes 0 for none, or up to 10 with at most three decimals, not " + in_quotes(text);
}

problem_text read_weight(std::string_view text, lifering::weight& to) {
  const auto value = lifering::weight::parse(text);
  if (!value) {
    return "--weight takes 0, or 0.01 to 100 with at most three decimals, not " + in_quotes(text);
  }
  to = *value;
  return std::nullopt;
}

problem_text read_placement(std::string_view text, lifering::placement_options& to) {
  to.foreign = {};
  if (const auto kind = lifering::parse_placement(text)) {
    to.kind = *kind;
    return std::nullopt;
  }
#if defined(LIFERING_COMPAT)
  lifering::problem wrong;
  const auto foreign = lifering::compat::parse(text, wrong);
  if (!foreign && lifering::compat::is_name(text)) return "--placement: " + wrong.text;
  if (foreign) {
    to.kind = foreign->kind;
    to.foreign = foreign->foreign;
    return std::nullopt;
  }
  return "--placement takes slots, mixed, classic, nginx, haproxy, ketama, envoy_ring, maglev, "
         "redis_slots or kafka, not " +
         in_quotes(text);
#else
  return "--placement takes slots, mixed or classic, not " + in_quotes(text);
#endif
}

problem_text read_level(std::string_view text, lifering::log_level& to) {
  using lifering::log_level;
  for (const auto level :
       {log_level::debug, log_level::info, log_level::warning, log_level::error, log_level::off}) {
    if (text == to_string(level)) {
      to = level;
      return std::nullopt;
    }
  }
  return "--log takes debug, info, warning, error or off, not " + in_quotes(text);
}

problem_text read_seed(std::string_view text, std::vector<std::string>& to) {
  if (auto found = lifering::validate_seed(text)) return "--join: " + found->text;
  to.emplace_back(text);
  return std::nullopt;
}

problem_text apply_profile(std::string_view text, lifering::options& to) {
  if (text == "lan") {
    to = lifering::options::lan();
  } else if (text == "wan") {
    to = lifering::options::wan();
  } else if (text == "local") {
    to = lifering::options::local();
  } else {
    return "--profile takes lan, wan or local, not " + in_quotes(text);
  }
  return std::nullopt;
}

problem_text read_key_file(std::string_view path, lifering::keyring& to) {
  if (auto found = to.add_file(std::string(path))) return found->text;
  return std::nullopt;
}

problem_text read_seal_mode(std::string_view text, std::optional<lifering::seal_mode>& to) {
  to = lifering::parse_seal_mode(text);
  if (to) return std::nullopt;
  return "--seal takes off, accept or require, not " + in_quotes(text);
}

struct flag {
  std::string_view name;
  problem_text (*apply)(std::string_view value, arguments& to);
};

problem_text keep(std::string& to, std::string_view value) {
  to = value;
  return std::nullopt;
}

constexpr flag flags[] = {
    {"--name", [](std::string_view value, arguments& to) { return keep(to.options.name, value); }},
    {"--bind", [](std::string_view value, arguments& to) { return keep(to.options.bind, value); }},
    {"--cluster",
     [](std::string_view value, arguments& to) { return keep(to.options.cluster, value); }},
    {"--advertise",
     [](std::string_view value, arguments& to) { return keep(to.options.advertise, value); }},
    {"--allow",
     [](std::string_view value, arguments& to) -> problem_text {
       to.options.allow.emplace_back(value);
       return std::nullopt;
     }},
    {"--name-server",
     [](std::string_view value, arguments& to) { return keep(to.options.name_server, value); }},
    {"--key-file",
     [](std::string_view value, arguments& to) { return read_key_file(value, *to.options.keys); }},
    {"--seal",
     [](std::string_view value, arguments& to) { return read_seal_mode(value, to.seal); }},
    {"--join", [](std::string_view value, arguments& to) { return read_seed(value, to.seeds); }},
    {"--zone", [](std::string_view value, arguments& to) { return keep(to.options.zone, value); }},
    {"--meta",
     [](std::string_view value, arguments& to) { return keep(to.options.metadata, value); }},
    {"--service",
     [](std::string_view value, arguments& to) { return keep(to.options.service, value); }},
    {"--weight",
     [](std::string_view value, arguments& to) { return read_weight(value, to.options.weight); }},
    {"--placement", [](std::string_view value,
                       arguments& to) { return read_placement(value, to.options.placement); }},
    {"--vnodes",
     [](std::string_view value, arguments& to) {
       return read_number("--vnodes", value, to.options.placement.vnodes);
     }},
    {"--label",
     [](std::string_view value, arguments& to) { return keep(to.options.placement.label, value); }},
    {"--segments",
     [](std::string_view value, arguments& to) {
       return read_number("--segments", value, to.options.placement.segments);
     }},
    {"--cap", [](std::string_view value,
                 arguments& to) { return read_cap(value, to.options.placement.cap); }},
    {"--log",
     [](std::string_view value, arguments& to) { return read_level(value, to.options.level); }},
};

/// The words as (flag, value) pairs; a flag's value is the next word or follows a `=`.
struct given_flag {
  std::string_view name;
  std::string_view value;
};

bool is_switch(std::string_view name) {
  return name == "--quit-on-eof" || name == "--not-ready" || name == "--help" ||
         name == "--version";
}

bool takes_value(std::string_view name) {
  return name == "--profile" ||
         std::any_of(std::begin(flags), std::end(flags),
                     [name](const flag& known) { return known.name == name; });
}

bool is_option(std::string_view word) {
  return is_switch(word) || takes_value(word.substr(0, word.find('=')));
}

std::string no_option(std::string_view word) {
  return in_quotes(word) + " is no option; lifering-agent --help lists them all";
}

problem_text pair_up(std::span<const char* const> words, std::vector<given_flag>& to) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view name = word.substr(0, word.find('='));
    if (!name.starts_with("--")) {
      return no_option(word);
    }
    if (is_switch(name)) {
      if (name != word) return std::string(name) + " takes no value";
      to.push_back({name, {}});
    } else if (name != word) {
      to.push_back({name, word.substr(name.size() + 1)});
    } else if (i + 1 < words.size() && takes_value(name) && is_option(words[i + 1])) {
      // More likely a value that was left out than one that looks so.
      const std::string next = words[i + 1];
      return std::string(name) + " needs a value, and " + in_quotes(next) +
             " is an option; if it is meant, write " + std::string(name) + '=' + next;
    } else if (i + 1 < words.size()) {
      to.push_back({name, words[++i]});
    } else {
      to.push_back({name, {}});
      return takes_value(name) ? std::string(name) + " needs a value" : no_option(name);
    }
  }
  return std::nullopt;
}

problem_text apply(const given_flag& given, arguments& to) {
  if (given.name == "--profile") return std::nullopt;  // applied before all others
  if (given.name == "--quit-on-eof") {
    to.quit_on_eof = true;
    return std::nullopt;
  }
  if (given.name == "--not-ready") {
    to.options.phase = lifering::member_phase::joining;
    return std::nullopt;
  }
  for (const flag& known : flags) {
    if (known.name == given.name) return known.apply(given.value, to);
  }
  return no_option(given.name);
}

problem_text check_required(const std::vector<given_flag>& all) {
  for (const std::string_view required : {"--name", "--bind", "--cluster"}) {
    bool found = false;
    for (const auto& given : all)
      found = found || given.name == required;
    if (!found) return std::string(required) + " is required; lifering-agent --help says more";
  }
  return std::nullopt;
}

}  // namespace

std::variant<arguments, answer, mistake> read_arguments(std::span<const char* const> words) {
  std::vector<given_flag> all;
  const auto unpaired = pair_up(words, all);
  for (const auto& given : all) {
    if (given.name == "--help") return answer{std::string(usage)};
    if (given.name == "--version") {
      return answer{"lifering-agent " + std::to_string(LIFERING_VERSION_MAJOR) + '.' +
                    std::to_string(LIFERING_VERSION_MINOR) + '.' +
                    std::to_string(LIFERING_VERSION_PATCH) + '\n'};
    }
  }
  arguments result;
  auto wrong = unpaired;
  for (const auto& given : all) {
    if (!wrong && given.name == "--profile") wrong = apply_profile(given.value, result.options);
  }
  result.options.keys = std::make_shared<lifering::keyring>();
  for (const auto& given : all) {
    if (!wrong) wrong = apply(given, result);
  }
  if (!wrong) wrong = check_required(all);
  if (!wrong && result.seal) {
    // After all key files, whichever came first.
    if (const auto found = result.options.keys->set_mode(*result.seal)) {
      wrong = "--seal " + std::string(to_string(*result.seal)) + ": " + found->text;
    }
  }
  if (!wrong) {
    if (const auto found = result.options.validate()) wrong = found->text;
  }
  if (wrong) return mistake{*wrong};
  return result;
}
