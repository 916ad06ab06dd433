#pragma once

#include <string>
#include <vector>

namespace barrio::rankmap {

/// Groups of the cores in a node: by caches, dies, packages.
struct NodeInside {
  std::vector<int> group_sizes;          ///< cores of each innermost group
  std::vector<std::vector<int>> levels;  ///< by level outside of the groups: the branch of each group, from 0
  [[nodiscard]] int n_cores() const noexcept;
};

/// Make a node of unknown structure: one group.
NodeInside plain_node(int n_cores);

/// Read the structure of a node from hwloc's XML (`lstopo node.xml`), versions 1 and 2: cores by third-level cache, die
/// or NUMA node, and package. Redundant levels are left out. Local.
/// @throws Error{bad_input} if it is not such a file, Error{failed} if it cannot be read
NodeInside read_hwloc(const std::string& path);

/// Keep the first `n_cores` cores of a node. @throws Error{bad_input} if it has fewer
NodeInside first_cores(const NodeInside& node, int n_cores);

}  // namespace barrio::rankmap
