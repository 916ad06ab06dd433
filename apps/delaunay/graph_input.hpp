#pragma once

#include <string>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::apps {

/// A file of any kind as a graph.
struct GraphInput {
  delaunay::PlanarGraph graph;
  std::vector<std::string> left_out = {};  ///< told to the user
  bool is_mesh = false;                    ///< it had triangles
};

/// Read Triangle's files (.poly, .node, .ele), or a mesh of triangles in any format that barrio reads. Local, also
/// where it is one rank of many. @throws Error{failed}, {bad_input}
[[nodiscard]] GraphInput read_graph(const std::string& path);

}  // namespace barrio::apps
