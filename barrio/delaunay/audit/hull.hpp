#pragma once

#include <span>
#include <vector>

#include "barrio/delaunay/audit/exact.hpp"
#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::delaunay::detail {

/// Compute the convex hull of points: edges between its corners, counterclockwise, without markers. Points on the hull
/// between two corners are no ends. Source: Andrew 1979
/// @return no edges if all points lie on one line
[[nodiscard]] std::vector<PlanarGraph::Edge> hull_of(std::span<const Point> points, ExactSigns& signs);

}  // namespace barrio::delaunay::detail
