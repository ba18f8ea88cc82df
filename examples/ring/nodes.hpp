// Nodes from the command line or from a file.
#pragma once

#include <lifering/ring.hpp>
#include <string>
#include <vector>

namespace ring_tool {

/// Nodes in the order in which they are given, which is the order of servers for placements that
/// have one, and the ids that a file's fourth column gives, in pairs of name and id.
struct node_list {
  std::vector<lifering::ring_node> nodes;
  std::vector<std::pair<std::string, std::string>> ids;
};

/// Names with commas between.
node_list split_nodes(const std::string& list);

/// name[<TAB>weight[<TAB>zone[<TAB>id]]] a line. Throws usage_error.
node_list read_nodes(const std::string& file);

/// The placement with the list's order and ids, if it is one that has such.
lifering::placement_options placed(const lifering::placement_options& placement,
                                   const node_list& list);

/// A ring of the nodes. Throws usage_error with what is wrong with one of them; says on stderr what
/// would surprise.
lifering::hash_ring make_ring(const lifering::placement_options& placement,
                              const std::vector<lifering::ring_node>& nodes);

}  // namespace ring_tool
