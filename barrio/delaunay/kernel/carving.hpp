#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// A piece of a segment, and the regions on its sides.
struct PieceSides {
  std::array<std::int32_t, 2> ends;   ///< vertices, the lower one first
  std::array<std::int32_t, 2> sides;  ///< left and right of the way from the first end to the second
};

/// Remove the triangles outside all segments, unless the hull is filled, those in holes, and the outside triangles.
/// Assign regions. @throws Error{bad_input} if nothing is left, or if a hole or region lies outside
void carve(Triangulation& mesh, const PlanarGraph& graph, bool fills_hull);

/// Sort pieces and merge those that coincide; the result has the sides that all of them give.
/// @throws Error{bad_input} where they contradict each other
void merge(const Triangulation& mesh, std::vector<PieceSides>& pieces);

/// As `carve`, by the sides of segments. @throws Error{bad_input} where sides of one part contradict each other
/// @param pieces  of all segments, in any order
void carve_by_sides(Triangulation& mesh, const PlanarGraph& graph, std::vector<PieceSides> pieces);

}  // namespace barrio::delaunay::detail
