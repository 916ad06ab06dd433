#pragma once

#include <span>
#include <string>
#include <vector>

namespace barrio::rankmap {

/// Nodes under switches: a tree, or several trees that are equally far from each other.
struct Switches {
  /// Ordered so that the nodes under any switch are consecutive.
  std::vector<std::string> nodes;
  /// For each level of switches, from the nodes outwards, the number of the switch above each node: from 0, never
  /// falling. A node with fewer switches above it than others is alone in the missing levels.
  std::vector<std::vector<int>> levels;
};

/// Read Slurm's topology.conf of the plugin topology/tree: lines `SwitchName=s1 Nodes=n[1-16]` and `SwitchName=top
/// Switches=s[1-4]`. Local.
/// @throws Error{bad_input} with file and line for invalid contents, Error{failed} if it cannot be read
Switches read_topology_conf(const std::string& path);

/// Keep these nodes, and the levels that distinguish them. @throws Error{bad_input} naming a missing node
Switches keep_nodes(const Switches& switches, std::span<const std::string> names);

}  // namespace barrio::rankmap
