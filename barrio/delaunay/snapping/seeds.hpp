#pragma once

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/snapping/arrangement.hpp"

namespace barrio::delaunay::detail {

/// Check that no segment has moved across the position of a hole or region, so that each still marks the same part.
/// @param rows  of the graph's segments, in the order of the arrangement
/// @throws Error{bad_input}
void check_seeds(const PlanarGraph& graph, std::span<const std::int32_t> rows, const Arrangement& arrangement);

}  // namespace barrio::delaunay::detail
