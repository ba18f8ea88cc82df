// Reading nodes, and saying what is wrong with them.
#include "nodes.hpp"

#include <algorithm>
#include <iostream>

#include "arguments.hpp"
#include "text.hpp"

#if defined(LIFERING_COMPAT)
#include <lifering/compat.hpp>
#endif

namespace ring_tool {

namespace {

/// The bytes of a field. A space where a tab was meant would make one name of a whole line.
std::string unescaped(const std::string& text, const std::string& where) {
  const auto raw =
      std::find_if(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; });
  if (raw != text.end()) {
    throw usage_error(where + ": \"" + escape(text) + "\" holds a byte that must be written " +
                      escape({&*raw, 1}) + "; fields are separated by tabs");
  }
  if (auto bytes = unescape(text)) {
    return *std::move(bytes);
  }
  throw usage_error(where + ": \"" + text + "\" has a backslash that doesn't begin \\xHH");
}

// Says which node a refused assign() is about.
std::string fault(const std::vector<lifering::ring_node>& nodes, const std::error_code& error) {
  std::string text = error.message();
  if (error == lifering::errc::duplicate_node) {
    std::vector<std::string> names;
    for (const auto& node : nodes) {
      if (std::find(names.begin(), names.end(), node.name) != names.end()) {
        return "node \"" + escape(node.name) + "\" is given twice; name each node once";
      }
      names.push_back(node.name);
    }
  }
  for (const auto& node : nodes) {
    if (error == lifering::errc::empty_name && node.name.empty()) {
      return "a node's name is empty; use 1 to 255 bytes";
    }
    if (error == lifering::errc::name_too_long && node.name.size() > 255) {
      return "node \"" + escape(node.name.substr(0, 20)) + "...\" has " +
             std::to_string(node.name.size()) + " bytes; use 1 to 255";
    }
    if (error == lifering::errc::zone_too_long && node.zone.size() > 64) {
      return "zone \"" + escape(node.zone.substr(0, 20)) + "...\" has " +
             std::to_string(node.zone.size()) + " bytes; use at most 64";
    }
  }
  return text;
}

}  // namespace

node_list split_nodes(const std::string& text) {
  node_list list;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    list.nodes.push_back({text.substr(start, comma - start)});
    start = comma + 1;
  }
  return list;
}

node_list read_nodes(const std::string& file) {
  node_list list;
  std::size_t number = 0;
  for (std::string line : read_lines(file)) {
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (number == 0 && line.starts_with(byte_order_mark)) {
      line.erase(0, byte_order_mark.size());
    }
    const std::string where = file + ", line " + std::to_string(++number);
    std::vector<std::string> fields;
    for (std::size_t start = 0; start <= line.size();) {
      const std::size_t tab = std::min(line.find('\t', start), line.size());
      fields.push_back(line.substr(start, tab - start));
      start = tab + 1;
    }
    if (fields.size() > 4) {
      throw usage_error(where + ": " + std::to_string(fields.size()) +
                        " fields; write name, weight, zone and id, or fewer, with tabs between");
    }
    lifering::ring_node node{unescaped(fields[0], where)};
    if (node.name.empty()) {
      throw usage_error(where + ": a node's name is empty; use 1 to 255 bytes");
    }
    if (fields.size() > 1) {
      const auto weight = lifering::weight::parse(fields[1]);
      if (!weight) {
        throw usage_error(where + ": weight is \"" + escape(fields[1]) +
                          "\"; use 0, or 0.01 to 100 with at most three places");
      }
      node.weight = *weight;
    }
    if (fields.size() > 2) {
      node.zone = unescaped(fields[2], where);
    }
    if (fields.size() > 3 && !fields[3].empty()) {
      list.ids.emplace_back(node.name, unescaped(fields[3], where));
    }
    list.nodes.push_back(std::move(node));
  }
  return list;
}

lifering::placement_options placed(const lifering::placement_options& placement,
                                   [[maybe_unused]] const node_list& list) {
#if defined(LIFERING_COMPAT)
  if (placement.foreign) {
    std::vector<std::string> order;
    for (const auto& node : list.nodes) {
      order.push_back(node.name);
    }
    std::vector<lifering::compat::server_id> ids;
    for (const auto& [name, id] : list.ids) {
      ids.push_back({name, id});
    }
    return lifering::compat::with_servers(placement, std::move(order), std::move(ids));
  }
#endif
  return placement;
}

lifering::hash_ring make_ring(const lifering::placement_options& placement,
                              const std::vector<lifering::ring_node>& nodes) {
  const auto refused = placement.validate(nodes);
  std::error_code error;
  lifering::hash_ring ring{placement};
  if (!refused) {
    ring.assign(nodes, error);
  }
  if (refused || error) {
    throw usage_error(refused ? refused->text : fault(nodes, error));
  }
  for (const std::string& warning : placement.warnings(nodes)) {
    std::cerr << "lifering-ring: warning: " << warning << '\n';
  }
  return ring;
}

}  // namespace ring_tool
