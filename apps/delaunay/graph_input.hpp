#pragma once

#include <string>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::apps {

/// A file of any kind as a graph.
struct GraphInput {
  delaunay::PlanarGraph graph;
  std::vector<std::string> left_out = {};  ///< told to the user
  std::string projection = {};             ///< as PROJ calls it; empty without
};

/// Read Triangle's files (.poly, .node, .ele), polygons of GeoJSON (.geojson, .json), or a mesh of triangles in any
/// format that barrio reads. Local, also where it is one rank of many. @throws Error{failed}, {bad_input}
/// @param project  of GeoJSON, see `make_projection`; it is refused without, and others are with one
[[nodiscard]] GraphInput read_graph(const std::string& path, const std::string& project);

}  // namespace barrio::apps
