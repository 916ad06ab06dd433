#pragma once

/// @file Triangle meshes of the plane: to a graph that can be refined, and from a triangulation.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// Triangle mesh of the plane from another source. Its triangles need not be Delaunay, nor run counterclockwise.
struct FlatMesh {
  std::vector<Point> points = {};                           ///< vertices
  std::vector<std::int32_t> point_markers = {};             ///< of each point; or empty
  std::vector<Attribute> attributes = {};                   ///< of points, in the order of `attribute_values`
  std::vector<double> attribute_values = {};                ///< of each point, all components of all attributes
  std::vector<std::array<std::int32_t, 3>> triangles = {};  ///< rows of `points`
  std::vector<PlanarGraph::Edge> edges = {};                ///< edges of triangles to keep, with their markers
  std::vector<Region> regions = {};                         ///< `triangle_regions` names them by position from 1
  std::vector<MarkerName> marker_names = {};                ///< of some markers of edges
  std::vector<std::int32_t> triangle_regions = {};  ///< of each triangle, its region from 1, or 0 for none; or empty
};

/// Make the graph of a mesh. Its boundary, the edges between regions and the edges to keep become segments with the
/// regions on their sides. The triangulation of this graph has the same points and regions, and is Delaunay. Local.
/// @param[out] left_out  contents that a graph cannot hold, in words for the user
/// @throws Error{bad_input} for rows out of range, triangles without area, and edges with two triangles on one side
/// Cost: O(n log n) for the edges of all triangles; memory 16 bytes for each of their three edges
[[nodiscard]] PlanarGraph to_graph(const FlatMesh& mesh, std::vector<std::string>& left_out);

/// Copy a triangulation into a plain triangle mesh. Local. @pre it is compact
[[nodiscard]] FlatMesh to_flat_mesh(const Triangulation& mesh);

/// Read STEM.ele with STEM.node and, if it exists, STEM.poly, in Triangle's format. Triangles with the same attribute
/// form a region, with the max area that the .poly file gives to this attribute. Local. @throws Error{failed},
/// {bad_input} as read_poly
[[nodiscard]] FlatMesh read_ele(const std::string& path, std::vector<std::string>& left_out);

}  // namespace barrio::delaunay
