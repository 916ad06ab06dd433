#pragma once

#include <cstdint>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Return a position in each hole: in each part of the plane without triangles that triangles enclose. Local.
/// Cost: a triangulation of the boundary
[[nodiscard]] std::vector<Point> hole_places(const Triangulation& mesh);

/// A position in a part of a region between segments.
struct RegionPlace {
  Point place;
  std::uint32_t region;
};

/// Return a position in each part that has a region. Local. Memory: 4 bytes a triangle
[[nodiscard]] std::vector<RegionPlace> region_places(const Triangulation& mesh);

}  // namespace barrio::delaunay::detail
