#include "commands.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "json.hpp"
#include "keys.hpp"

namespace {

std::string error_line(std::string_view sentence) {
  return json_object().text("error", sentence).line();
}

/// What was given, for a sentence: a long text may be a key that was pasted in the wrong place.
std::string shown(std::string_view given) {
  constexpr std::size_t shown_max = 24;
  if (given.size() > shown_max) return "a text of " + std::to_string(given.size()) + " bytes";
  return '"' + std::string(given) + '"';
}

/// Commands that stand alone. Who writes "leave node-2" means something else than `leave`.
bool stands_alone(std::string_view command) {
  constexpr std::array<std::string_view, 10> all{"members",   "fingerprint", "stats", "graves",
                                                 "agreement", "ready",       "drain", "keys",
                                                 "leave",     "quit"};
  return std::find(all.begin(), all.end(), command) != all.end();
}

std::string list_line(std::string_view key, const auto& members) {
  std::string list = "[";
  for (const auto& member : members) {
    if (list.size() > 1) list += ',';
    list += to_json(member);
  }
  return json_object().raw(key, list + ']').line();
}

std::string agreement_line(const lifering::cluster& cluster) {
  const auto seen = cluster.agreement();
  json_object answer;
  answer.text("fingerprint", hex(seen.fingerprint)).number("agreeing", seen.agreeing);
  answer.number("differing", seen.differing).number("unheard", seen.unheard);
  const auto agreed = seen.agreed_for;
  answer.raw("agreed_ms", agreed ? std::to_string(agreed->count()) : "null");
  return json_object().raw("agreement", answer.str()).line();
}

std::string owner_line(const lifering::cluster& cluster, std::string_view key) {
  const auto ring = cluster.ring();
  const auto* owner = ring.owner(key);
  json_object answer;
  answer.text("key", key);
  return answer.raw("owner", owner != nullptr ? json_string(owner->name) : "null").line();
}

std::string owners_line(const lifering::cluster& cluster, std::string_view rest) {
  const std::size_t space = rest.rfind(' ');
  std::size_t count = 0;
  const auto number = space == std::string_view::npos ? "" : rest.substr(space + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
  if (error != std::errc{} || end != number.data() + number.size()) {
    return error_line("owners takes a key and a number, as in: owners some key 2; not " +
                      shown(rest));
  }
  const auto key = rest.substr(0, space);
  const auto ring = cluster.ring();
  std::string list = "[";
  for (const auto* owner : ring.owners(key, std::min(count, ring.size()))) {
    if (list.size() > 1) list += ',';
    list += json_string(owner->name);
  }
  return json_object().text("key", key).raw("owners", list + ']').line();
}

std::string stats_line(const lifering::cluster& cluster) {
  json_object all;
  for (const auto& row : cluster.stats()) {
    std::string name(row.name);
    if (!row.reason.empty()) name += '_' + std::string(row.reason);
    all.number(name, row.value);
  }
  return json_object().raw("stats", all.str()).line();
}

/// Runs a change that says by throwing why it can't be.
template <class Change>
std::string change_line(Change change) {
  try {
    change();
    return "{\"ok\":true}\n";
  } catch (const std::system_error& error) {
    return error_line(error.what());
  }
}

std::string weight_line(lifering::cluster& cluster, std::string_view text) {
  const auto weight = lifering::weight::parse(text);
  if (!weight) {
    return error_line("set-weight takes 0, or 0.01 to 100 with at most three decimals, not " +
                      shown(text));
  }
  return change_line([&] { cluster.set_weight(*weight); });
}

std::string health_line(lifering::cluster& cluster, std::string_view word) {
  if (word != "good" && word != "bad") {
    return error_line("health takes good or bad, not " + shown(word));
  }
  return change_line([&] { cluster.set_health(word == "good"); });
}

/// `send NAME TEXT` and `send-reliably NAME TEXT`; names with a space can't be given here.
std::string send_line(lifering::cluster& cluster, std::string_view rest, bool reliable) {
  const std::size_t space = rest.find(' ');
  const auto to = rest.substr(0, space);
  if (to.empty()) return error_line("a message needs the name of a member and a text");
  const std::string text(space == std::string_view::npos ? "" : rest.substr(space + 1));
  return change_line([&] { reliable ? cluster.send_reliably(to, text) : cluster.send(to, text); });
}

/// What changes something here or elsewhere.
std::optional<std::string> carry_out(lifering::cluster& cluster, std::string_view command,
                                     std::string_view rest) {
  if (command == "set-meta") {
    return change_line([&] { cluster.set_metadata(std::string(rest)); });
  }
  if (command == "set-service") {
    return change_line([&] { cluster.set_service(std::string(rest)); });
  }
  if (command == "set-weight") return weight_line(cluster, rest);
  if (command == "ready") return change_line([&] { cluster.ready(); });
  if (command == "drain") return change_line([&] { cluster.drain(); });
  if (command == "health") return health_line(cluster, rest);
  if (command == "send") return send_line(cluster, rest, false);
  if (command == "send-reliably") return send_line(cluster, rest, true);
  if (command == "broadcast") {
    return change_line([&] { cluster.broadcast(std::string(rest)); });
  }
  if (command == "forget") return change_line([&] { cluster.forget(rest); });
  return std::nullopt;
}

std::optional<std::string> answer(lifering::cluster& cluster, std::string_view command,
                                  std::string_view rest) {
  if (command == "members") return list_line("members", cluster.members());
  if (command == "graves") return list_line("graves", cluster.graves());
  if (command == "agreement") return agreement_line(cluster);
  if (command == "owner") return owner_line(cluster, rest);
  if (command == "owners") return owners_line(cluster, rest);
  if (command == "fingerprint") {
    return json_object().text("fingerprint", hex(cluster.ring().fingerprint())).line();
  }
  if (command == "stats") return stats_line(cluster);
  return carry_out(cluster, command, rest);
}

}  // namespace

next_step obey(lifering::cluster& cluster, lifering::keyring& keys, std::string_view line,
               std::string& answers) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::size_t space = line.find(' ');
  const auto command = line.substr(0, space);
  const auto rest = space == std::string_view::npos ? "" : line.substr(space + 1);
  const bool has_more = rest.find_first_not_of(' ') != std::string_view::npos;
  if (stands_alone(command) && has_more) {
    answers += error_line(std::string(command) + " takes nothing after it");
    return next_step::go_on;
  }
  if (command == "leave") return next_step::leave;
  if (command == "quit") return next_step::quit;
  auto said = answer_about_keys(keys, command, rest);
  if (!said) said = answer(cluster, command, rest);
  const std::string what = line.empty() ? "an empty line" : shown(command);
  answers +=
      said.value_or(error_line(what + " is no command; lifering-agent --help lists them all"));
  return next_step::go_on;
}
