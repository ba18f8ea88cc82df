// HAProxy: 2.6 with all hashes and runtime changes, 3.5 with all hash keys, and bounded loads.
#include <lifering/compat.hpp>
#include <lifering/hash.hpp>

#include "ring/oracle_rows.hpp"

using namespace ring_test;
namespace compat = lifering::compat;

namespace {

std::string word_after(const std::string& text, const std::string& word) {
  const auto words = split(text, ' ');
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == word) {
      return words[i + 1];
    }
  }
  return "";
}

bool has_word(const std::string& text, const std::string& word) {
  const auto words = split(text, ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

compat::haproxy read_options(const oracle_config& config) {
  compat::haproxy options;
  const std::string type = config.value("hash_type");
  const std::string key = word_after(config.value("default_server"), "hash-key");
  const std::pair<const char*, compat::haproxy::hashes> hashes[] = {
      {"sdbm", compat::haproxy::hashes::sdbm},
      {"djb2", compat::haproxy::hashes::djb2},
      {"wt6", compat::haproxy::hashes::wt6},
      {"crc32", compat::haproxy::hashes::crc32},
      {"none", compat::haproxy::hashes::none}};
  for (const auto& [word, hash] : hashes) {
    if (has_word(type, word)) {
      options.hash = hash;
      options.avalanche = has_word(type, "avalanche");
    }
  }
  const std::pair<const char*, compat::haproxy::keys> keys[] = {
      {"addr", compat::haproxy::keys::addr},
      {"addr-port", compat::haproxy::keys::addr_port},
      {"guid", compat::haproxy::keys::guid},
      {"id32", compat::haproxy::keys::id32}};
  for (const auto& [word, by] : keys) {
    options.key = key == word ? by : options.key;
  }
  return options;
}

/// A server of a config: `NAME=ADDRESS[ weight N][ id N][ guid TEXT][ disabled][ backup]`.
struct read_server {
  std::string name;
  std::string id;
  std::uint64_t weight = 1;
  bool disabled = false;
  bool backup = false;
};

std::vector<read_server> read_servers(const oracle_config& config, compat::haproxy::keys key) {
  std::vector<read_server> servers;
  for (const std::string& text : split(config.value("servers"), ',')) {
    read_server server;
    server.name = text.substr(0, text.find('='));
    const std::string rest = text.substr(server.name.size() + 1);
    server.id = word_after(rest, "id");
    if (key == compat::haproxy::keys::guid) {
      server.id = word_after(rest, "guid");
    } else if (key == compat::haproxy::keys::addr || key == compat::haproxy::keys::addr_port) {
      server.id = rest.substr(0, rest.find(' '));
    }
    if (const std::string weight = word_after(rest, "weight"); !weight.empty()) {
      server.weight = std::stoul(weight);
    }
    server.disabled = has_word(rest, "disabled");
    server.backup = has_word(rest, "backup");
    servers.push_back(server);
  }
  return servers;
}

/// Who takes requests: the active servers, or else the first backup, or with an option all.
void close_servers(const oracle_config& config, std::vector<read_server>& servers) {
  const bool has_active = std::any_of(servers.begin(), servers.end(), [](const read_server& each) {
    return !each.disabled && !each.backup;
  });
  bool found_backup = false;
  for (read_server& each : servers) {
    const bool only_one = config.value("option") != "option allbackups" && found_backup;
    found_backup = found_backup || each.backup;
    const bool takes_part = has_active ? !each.backup : each.backup && !only_one;
    each.weight = each.disabled || !takes_part ? 0 : each.weight;
  }
  const std::string after = config.value("after");
  if (after == "set weight n3/s1 4") {
    servers[0].weight = 4;
  } else if (after == "disable server n3/s2") {
    servers[1].weight = 0;
  }
}

std::optional<answering_ring> haproxy_ring(const oracle_config& config) {
  const std::string balance = config.value("balance");
  const bool takes_key = balance.empty() || balance == "hdr(x-key)" ||
                         balance == "hash req.hdr(x-key)" || balance == "hdr(host)";
  if (!takes_key) {
    return std::nullopt;
  }
  answering_ring result;
  compat::haproxy options = read_options(config);
  auto servers = read_servers(config, options.key);
  close_servers(config, servers);
  for (const read_server& each : servers) {
    options.unit = each.weight > 100 ? 10 : options.unit;
  }
  for (const read_server& each : servers) {
    options.order.push_back(each.name);
    if (!each.id.empty()) {
      options.ids.push_back({each.name, each.id});
    }
    result.nodes.push_back({each.name, scaled(each.weight, options.unit)});
  }
  result.placement = options.placement();
  return result;
}

/// A header of several values, of which HAProxy takes one.
bool is_list(const oracle_config&, const oracle_row& row) {
  return row.key.find(',') != std::string::npos || row.key.starts_with(' ') ||
         row.key.ends_with(' ');
}

}  // namespace

TEST_CASE("owners are HAProxy 2.6's in every row whose key is the header", "[compat]") {
  // Left out: slices of the URI, parameters, domains and source addresses, which are the proxy's
  // rules (212), lists of values in one header (4), and the bounded loads of the case below (477).
  const auto make = [](const oracle_config& config) {
    return config.id.starts_with("bl-") ? std::nullopt : haproxy_ring(config);
  };
  CHECK(agree("haproxy-consistent.tsv", make, is_list) == agreement{1546, 693});
}

TEST_CASE("owners are HAProxy 3.5's for every hash-key", "[compat]") {
  CHECK(agree("haproxy-3.5-hash-key.tsv", haproxy_ring, is_list) == agreement{1580, 0});
}

TEST_CASE("picks under load are those of hash-balance-factor", "[compat]") {
  std::size_t picks = 0;
  for (const oracle_config& config : read_oracle("haproxy-consistent.tsv")) {
    if (!config.id.starts_with("bl-")) {
      continue;
    }
    CAPTURE(config.id);
    const auto asked = haproxy_ring(config);
    const hash_ring ring = ring_of(asked->placement, asked->nodes);
    const auto view = ring.view();
    const auto factor = static_cast<std::uint32_t>(std::stoul(config.value("option").substr(20)));
    std::map<std::string, std::uint64_t> open;
    std::map<std::string, std::string> served;  // Request to server.
    for (const oracle_row& row : config.rows) {
      const auto words = split(row.key, ':');
      if (words[0] == "end") {
        --open[served.at(words.at(1))];
        continue;
      }
      const std::string key = row.key.substr(words[0].size() + words.at(1).size() + 2);
      const auto load = [&open](const ring_node& node) { return open[node.name]; };
      const ring_node* taken = view.pick(key, load, factor * 10);
      REQUIRE(taken != nullptr);
      CHECK(taken->name == row.owner);
      served[words[1]] = row.owner;
      ++open[row.owner];
      ++picks;
    }
  }
  CHECK(picks == 330);
}

TEST_CASE("numbers by position are renumbered by a removal, numbers by name are not", "[compat]") {
  const auto moved_of_others = [](const lifering::placement_options& placement) {
    hash_ring ring = ring_of(placement, {{"a:1"}, {"b:1"}, {"c:1"}, {"d:1"}, {"e:1"}});
    const auto before = ring.snapshot();
    ring.remove("c:1");
    const auto moves = lifering::diff(before, ring.view());
    std::uint64_t others = 0;
    for (const auto& range : moves.ranges()) {
      others += range.old_owner->name == "c:1" ? 0 : range.size();
    }
    return static_cast<double>(others) / 4294967296.0;
  };
  compat::haproxy options;
  CHECK(moved_of_others(options.placement()) > 0.25);
  options.number = compat::haproxy::numbers::name;
  CHECK(moved_of_others(options.placement()) == 0);
  options.number = compat::haproxy::numbers::position;
  options.ids = {{"a:1", "1"}, {"b:1", "2"}, {"c:1", "3"}, {"d:1", "4"}, {"e:1", "5"}};
  CHECK(moved_of_others(options.placement()) == 0);
}

TEST_CASE("a written configuration gets the numbers that the ring counts with", "[compat]") {
  compat::haproxy options;
  options.order = {"c", "a"};
  options.ids = {{"b", "2"}};
  const std::vector<ring_node> nodes{{"a"}, {"b"}, {"c"}, {"d", weight_of(0)}, {"e"}};
  using numbers = std::vector<std::pair<std::string, std::uint32_t>>;
  CHECK(compat::haproxy_numbers(options.placement(), nodes) ==
        numbers{{"c", 1}, {"a", 3}, {"b", 2}, {"d", 4}, {"e", 5}});

  // Names whose hashes meet: the smaller name keeps the number, in any order.
  options.number = compat::haproxy::numbers::name;
  options.ids = {};
  std::map<std::uint32_t, std::string> seen;
  std::string first;
  std::string second;
  for (int i = 0; first.empty(); ++i) {
    const std::string name = "cache-" + std::to_string(i);
    const std::uint32_t number = 1 + lifering::crc32(name) % 1'048'575;
    if (const auto [at, is_new] = seen.emplace(number, name); !is_new) {
      first = std::min(at->second, name);
      second = std::max(at->second, name);
    }
  }
  const std::uint32_t number = 1 + lifering::crc32(first) % 1'048'575;
  for (const auto& order : {std::vector{first, second}, std::vector{second, first}}) {
    options.order = order;
    const auto given =
        compat::haproxy_numbers(options.placement(), std::vector<ring_node>{{first}, {second}});
    for (const auto& [name, value] : given) {
      CHECK(value == (name == first ? number : number + 1));
    }
  }
}

TEST_CASE("servers that HAProxy would give nothing are refused or warned of", "[compat]") {
  const auto refusal = [](const compat::haproxy& options, const std::vector<ring_node>& nodes) {
    const auto found = options.placement().validate(nodes);
    return found ? found->text : "";
  };
  compat::haproxy options;
  options.key = compat::haproxy::keys::addr;
  CHECK(refusal(options, {{"10.0.0.1:80"}, {"10.0.0.2:80"}}) == "");
  CHECK(refusal(options, {{"10.0.0.1:80"}, {"10.0.0.1:81"}}) ==
        "haproxy: \"10.0.0.1:80\" and \"10.0.0.1:81\" are both \"10.0.0.1:0\" there and would "
        "share all points; name or number them apart");
  CHECK(refusal(options, {{"cache-1"}}) ==
        "haproxy: \"cache-1\" is no address, which key=addr and key=addr-port need; name nodes "
        "IP:PORT, or give their addresses as ids");
  options.key = compat::haproxy::keys::addr_port;
  CHECK(refusal(options, {{"10.0.0.1:80"}, {"10.0.0.1:81"}}) == "");

  options = {};
  CHECK(refusal(options, {{"a", weight_of(100'000)}}) == "");
  options.unit = 3;
  CHECK(refusal(options, {{"a", weight_of(100'000)}}) ==
        "haproxy: the weight of \"a\" is 100 times unit 3; it must be a whole number up to 256, so "
        "choose another unit or weight");
  options.unit = 1;
  options.ids = {{"a", "x"}};
  CHECK(refusal(options, {{"a"}}) ==
        "haproxy: the id of \"a\" is \"x\"; it must be a number, 1 to 2147483647");
  options.ids = {{"a", "7"}, {"b", "07"}};
  CHECK(refusal(options, {{"a"}, {"b"}}) ==
        "haproxy: \"a\" and \"b\" are both \"7\" there and would share all points; name or number "
        "them apart");
  options.ids = {{"a", "7"}, {"b", "1048583"}};
  CHECK(refusal(options, {{"a"}, {"b"}}) == "");
  CHECK(options.placement().warnings(std::vector<ring_node>{{"a"}, {"b"}}) ==
        std::vector<std::string>{"haproxy: the numbers of \"a\" and \"b\" are equal modulo 2^20, "
                                 "so that they share all points; use other ids"});
}
