// lifering-ring owner: the owners of given keys among given nodes.
#include <algorithm>
#include <iostream>

#include "arguments.hpp"
#include "text.hpp"

namespace ring_tool {

namespace {

std::vector<lifering::ring_node> split_nodes(const std::string& list) {
  std::vector<lifering::ring_node> nodes;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    nodes.push_back({list.substr(start, comma - start)});
    start = comma + 1;
  }
  return nodes;
}

std::string unescaped(const std::string& text, const std::string& where) {
  if (auto bytes = unescape(text)) {
    return *std::move(bytes);
  }
  throw usage_error(where + ": \"" + text + "\" has a backslash that doesn't begin \\xHH");
}

std::vector<lifering::ring_node> read_nodes(const std::string& file) {
  std::vector<lifering::ring_node> nodes;
  std::size_t number = 0;
  for (const std::string& line : read_lines(file)) {
    const std::string where = file + ", line " + std::to_string(++number);
    std::vector<std::string> fields;
    for (std::size_t start = 0; start <= line.size();) {
      const std::size_t tab = std::min(line.find('\t', start), line.size());
      fields.push_back(line.substr(start, tab - start));
      start = tab + 1;
    }
    if (fields.size() > 3) {
      throw usage_error(where + ": " + std::to_string(fields.size()) +
                        " fields; write name, or name<TAB>weight, or name<TAB>weight<TAB>zone");
    }
    lifering::ring_node node{unescaped(fields[0], where)};
    if (fields.size() > 1) {
      const auto weight = lifering::weight::parse(fields[1]);
      if (!weight) {
        throw usage_error(where + ": weight is \"" + fields[1] +
                          "\"; use 0, or 0.01 to 100 with at most three places");
      }
      node.weight = *weight;
    }
    if (fields.size() > 2) {
      node.zone = unescaped(fields[2], where);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

struct question {
  lifering::placement_options placement;
  std::vector<lifering::ring_node> nodes;
  std::vector<std::string> keys;
  std::uint32_t replicas = 1;
  bool hex = false;
  bool has_nodes = false;
  bool has_keys = false;
};

question read_question(arguments& args) {
  question q;
  while (!args.done()) {
    if (!args.next_is_flag()) {
      if (!args.done()) {
        q.keys.push_back(args.value());
        q.has_keys = true;
      }
    } else if (args.flag() == "--nodes" || args.flag() == "--nodes-file") {
      if (q.has_nodes) {
        throw usage_error("nodes are given twice; use one --nodes or one --nodes-file");
      }
      q.nodes = args.flag() == "--nodes" ? split_nodes(args.value()) : read_nodes(args.value());
      q.has_nodes = true;
    } else if (args.flag() == "--keys-file") {
      for (std::string& key : read_lines(args.value())) {
        q.keys.push_back(std::move(key));
      }
      q.has_keys = true;
    } else if (args.flag() == "--replicas") {
      q.replicas = args.number();
      if (q.replicas == 0) {
        throw usage_error("--replicas is 0; use 1 or more");
      }
    } else if (args.flag() == "--hex") {
      q.hex = true;
    } else if (!take_placement_flag(args, q.placement)) {
      unknown_flag(args.flag(), "owner");
    }
  }
  check(q.placement);
  if (!q.has_nodes) {
    throw usage_error("no nodes are given; use --nodes a,b,c or --nodes-file FILE");
  }
  if (!q.has_keys) {
    throw usage_error("no keys are given; name some, or use --keys-file FILE");
  }
  return q;
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

int run_owner(arguments args) {
  const question q = read_question(args);
  lifering::hash_ring ring{q.placement};
  std::error_code error;
  ring.assign(q.nodes, error);
  if (error) {
    throw usage_error(fault(q.nodes, error));
  }
  const lifering::ring_view view = ring.view();
  for (const std::string& given : q.keys) {
    const auto key = q.hex ? from_hex(given) : given;
    if (!key) {
      throw usage_error("key \"" + escape(given) + "\" isn't pairs of hexadecimal digits");
    }
    std::cout << (q.hex ? to_hex(*key) : escape(*key));
    const auto owners = view.owners(*key, q.replicas);
    if (owners.empty()) {
      std::cout << '\t';
    }
    for (const auto* node : owners) {
      std::cout << '\t' << escape(node->name);
    }
    std::cout << '\n';
  }
  return 0;
}

}  // namespace ring_tool
