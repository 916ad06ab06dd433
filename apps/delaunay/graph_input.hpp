#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/flat_mesh.hpp"
#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::apps {

/// A graph read from a file of any format.
struct GraphInput {
  delaunay::PlanarGraph graph;
  std::vector<std::string> left_out = {};          ///< contents that a graph cannot hold, in words for the user
  std::vector<std::int64_t> segment_numbers = {};  ///< of segments in the file; empty: their positions, from 0
  std::string projection = {};                     ///< definition given to PROJ; empty without
};

/// Read Triangle's files (.poly, .node, .ele), polygons of GeoJSON (.geojson, .json), or a triangle mesh in any format
/// that barrio reads. Local, also on one rank of many. @throws Error{failed}, {bad_input}
/// @param project  projection, see `make_projection`; required for GeoJSON, refused for other files
[[nodiscard]] GraphInput read_graph(const std::string& path, const std::string& project);

/// Read a triangle mesh of the plane: Triangle's .ele, or any format that barrio reads. Local, also on one rank of
/// many.
/// @throws as read_graph
[[nodiscard]] delaunay::FlatMesh read_flat_mesh(const std::string& path, std::vector<std::string>& left_out);

}  // namespace barrio::apps
