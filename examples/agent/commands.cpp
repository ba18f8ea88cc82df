#include "commands.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "json.hpp"

namespace {

std::string error_line(std::string_view sentence) {
  return json_object().text("error", sentence).line();
}

std::string members_line(const lifering::cluster& cluster) {
  std::string list = "[";
  for (const auto& member : cluster.members()) {
    if (list.size() > 1) list += ',';
    list += to_json(member);
  }
  return json_object().raw("members", list + ']').line();
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
    return error_line("owners takes a key and a number, as in: owners some key 2");
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
    return error_line("set-weight takes 0, or 0.01 to 100 with at most three decimals, not \"" +
                      std::string(text) + '"');
  }
  return change_line([&] { cluster.set_weight(*weight); });
}

std::optional<std::string> answer(lifering::cluster& cluster, std::string_view command,
                                  std::string_view rest) {
  if (command == "members") return members_line(cluster);
  if (command == "owner") return owner_line(cluster, rest);
  if (command == "owners") return owners_line(cluster, rest);
  if (command == "fingerprint") {
    return json_object().text("fingerprint", hex(cluster.ring().fingerprint())).line();
  }
  if (command == "stats") return stats_line(cluster);
  if (command == "set-meta") {
    return change_line([&] { cluster.set_metadata(std::string(rest)); });
  }
  if (command == "set-weight") return weight_line(cluster, rest);
  if (command == "ready") return change_line([&] { cluster.ready(); });
  if (command == "drain") return change_line([&] { cluster.drain(); });
  if (command == "forget") return change_line([&] { cluster.forget(rest); });
  return std::nullopt;
}

}  // namespace

next_step obey(lifering::cluster& cluster, std::string_view line, std::string& answers) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t space = line.find(' ');
  const auto command = line.substr(0, space);
  const auto rest = space == std::string_view::npos ? "" : line.substr(space + 1);
  if (command == "leave") return next_step::leave;
  if (command == "quit") return next_step::quit;
  answers += answer(cluster, command, rest)
                 .value_or(error_line("no command \"" + std::string(command) +
                                      "\"; lifering-agent --help lists them all"));
  return next_step::go_on;
}
