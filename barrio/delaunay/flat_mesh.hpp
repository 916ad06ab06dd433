#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// Triangles of the plane from elsewhere, to be refined: they need not be Delaunay, nor run counterclockwise.
struct FlatMesh {
  std::vector<Point> points = {};
  std::vector<std::int32_t> point_markers = {};  ///< of each point; or empty
  std::vector<Attribute> attributes = {};
  std::vector<double> attribute_values = {};                ///< of each point, the components of all attributes
  std::vector<std::array<std::int32_t, 3>> triangles = {};  ///< numbers of points
  std::vector<PlanarGraph::Edge> edges = {};                ///< edges of triangles that are to stay, with markers
  std::vector<Region> regions = {};
  std::vector<std::int32_t> triangle_regions = {};  ///< of each triangle, a place in `regions` from 1, or 0; or empty
};

/// Make the graph of a mesh: its boundary, edges between regions and those that are to stay are segments that say what
/// lies beside them. Its triangulation has the same points and regions, and is Delaunay. Local.
/// @param[out] left_out  what it has no place for, told to the user
/// @throws Error{bad_input} for numbers that are not there, triangles without an area, edges of more than two
/// Cost: O(n log n) for the edges of triangles, 24 bytes each
[[nodiscard]] PlanarGraph to_graph(const FlatMesh& mesh, std::vector<std::string>& left_out);

/// The mesh that a triangulation is. Local. @pre it is compact
[[nodiscard]] FlatMesh to_flat_mesh(const Triangulation& mesh);

/// Read STEM.ele with STEM.node and, if it is there, STEM.poly, as Triangle has them: triangles with the same attribute
/// are a region. Local. @throws Error{failed}, {bad_input} as read_poly
[[nodiscard]] FlatMesh read_ele(const std::string& path, std::vector<std::string>& left_out);

}  // namespace barrio::delaunay
