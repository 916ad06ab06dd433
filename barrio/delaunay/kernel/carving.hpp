#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// A piece of a segment, and what is said of its sides.
struct PieceSides {
  std::array<std::int32_t, 2> ends;   ///< vertices, the lower one first
  std::array<std::int32_t, 2> sides;  ///< on the left and on the right of the way from the first to the second
};

/// Take away what lies outside of all segments, unless the hull is filled, what lies in holes, and the triangles of the
/// outside; name regions. @throws Error{bad_input} if nothing is left, or for a hole or region that lies nowhere
void carve(Triangulation& mesh, const PlanarGraph& graph, bool fills_hull);

/// Sort pieces, and leave one of each that says what all say of it. @throws Error{bad_input} where they contradict each
/// other
void merge(const Triangulation& mesh, std::vector<PieceSides>& pieces);

/// As `carve`, by what is said of the sides of segments. @throws Error{bad_input} where that is not the same everywhere
/// @param pieces  of all segments; sorted here
void carve_by_sides(Triangulation& mesh, const PlanarGraph& graph, std::vector<PieceSides> pieces);

}  // namespace barrio::delaunay::detail
