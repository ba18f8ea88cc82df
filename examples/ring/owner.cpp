// lifering-ring owner: the owners of given keys among given nodes.
#include <iostream>

#include "arguments.hpp"
#include "keys.hpp"
#include "nodes.hpp"
#include "text.hpp"

namespace ring_tool {

namespace {

struct question {
  lifering::placement_options placement;
  node_list list;
  key_list keys;
  std::uint32_t replicas = 1;
  bool has_nodes = false;
};

question read_question(arguments& args) {
  question q;
  while (!args.done()) {
    if (!args.next_is_flag()) {
      if (!args.done()) {
        q.keys.take_word(args);
      }
    } else if (args.flag() == "--nodes" || args.flag() == "--nodes-file") {
      if (q.has_nodes) {
        throw usage_error("nodes are given twice; use one --nodes or one --nodes-file");
      }
      q.list = args.flag() == "--nodes" ? split_nodes(args.value()) : read_nodes(args.value());
      q.has_nodes = true;
    } else if (args.flag() == "--replicas") {
      q.replicas = args.number();
      if (q.replicas == 0) {
        throw usage_error("--replicas is 0; use 1 or more");
      }
    } else if (!q.keys.take_flag(args) && !take_placement_flag(args, q.placement)) {
      unknown_flag(args.flag(), "owner");
    }
  }
  check(q.placement);
  if (!q.has_nodes && !has_partitions(q.placement)) {
    throw usage_error("no nodes are given; use --nodes a,b,c or --nodes-file FILE");
  }
  q.keys.check();
  return q;
}

}  // namespace

int run_owner(arguments args) {
  const question q = read_question(args);
  if (!q.has_nodes) {
    print_slots(q.placement, q.keys);
    return 0;
  }
  const lifering::hash_ring ring = make_ring(placed(q.placement, q.list), q.list.nodes);
  const lifering::ring_view view = ring.view();
  for (std::size_t i = 0; i < q.keys.size(); ++i) {
    const auto key = q.keys.read(i);
    std::cout << key.printed;
    const auto owners = view.owners(key.bytes, q.replicas);
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
