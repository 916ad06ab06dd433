#pragma once

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Take away what lies outside of all segments, unless the hull is filled, what lies in holes, and the triangles of the
/// outside; name regions. @throws Error{bad_input} if nothing is left, or for a hole or region that lies nowhere
void carve(Triangulation& mesh, const PlanarGraph& graph, bool fills_hull);

}  // namespace barrio::delaunay::detail
