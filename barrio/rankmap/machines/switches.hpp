#pragma once

#include <span>
#include <string>
#include <vector>

namespace barrio::rankmap {

/// Which nodes hang under which switches: a tree, or several that are equally far from each other.
struct Switches {
  /// In an order in which the nodes under any switch are neighbours.
  std::vector<std::string> nodes;
  /// For each level of switches, from the nodes outwards, the number of the switch that each node is under: from 0,
  /// never falling. A node with fewer switches above it than others is alone in the levels it lacks.
  std::vector<std::vector<int>> levels;
};

/// Read Slurm's topology.conf of the plugin topology/tree: lines `SwitchName=s1 Nodes=n[1-16]` and
/// `SwitchName=top Switches=s[1-4]`. Local.
/// @throws Error{bad_input} with file and line for what it cannot mean, Error{failed} if it cannot be read
Switches read_topology_conf(const std::string& path);

/// Keep these nodes, and the levels that tell them apart. @throws Error{bad_input} naming a node that is not there
Switches keep_nodes(const Switches& switches, std::span<const std::string> names);

}  // namespace barrio::rankmap
