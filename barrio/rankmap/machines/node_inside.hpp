#pragma once

#include <string>
#include <vector>

namespace barrio::rankmap {

/// How the cores of a node are grouped: by caches, dies, packages.
struct NodeInside {
  std::vector<int> group_sizes;          ///< cores of each group that shares most
  std::vector<std::vector<int>> levels;  ///< by level outside of the groups: the branch of each group, from 0
  [[nodiscard]] int n_cores() const noexcept;
};

/// Nothing known: one group.
NodeInside plain_node(int n_cores);

/// Read the inside of a node from hwloc's XML (`lstopo node.xml`), versions 1 and 2: cores by third-level cache, die or
/// NUMA node, and package. Levels that tell nothing are left out. Local.
/// @throws Error{bad_input} if it is no such file, Error{failed} if it cannot be read
NodeInside read_hwloc(const std::string& path);

/// The first so many cores of a node. @throws Error{bad_input} if it has fewer
NodeInside first_cores(const NodeInside& node, int n_cores);

}  // namespace barrio::rankmap
