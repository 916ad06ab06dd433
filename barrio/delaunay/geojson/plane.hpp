#pragma once

#include <functional>
#include <span>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/snap.hpp"

namespace barrio::delaunay::detail {

using Project = std::function<void(std::span<Point>)>;

/// Properties of a projection, found by trying it.
struct MapProperties {
  bool joins = false;    ///< both sides of the last meridian lie in one place
  bool mirrors = false;  ///< the left of an edge becomes the right
};

/// Try a projection: on all positions, so that it can adapt to them, and on a few others. Local.
/// @param positions  in degrees; not empty @param last  see `last_meridian`
[[nodiscard]] MapProperties try_projection(const Project& project, std::span<const Point> positions, double last);

/// Project a graph that was snapped in degrees. Segments are straight in degrees; where their images bend past other
/// points, they get points. What then still meets is snapped again, with the same tolerance on the ground.
/// @param[in,out] report  of the first snapping; gets what vanishes
void to_plane(PlanarGraph& graph, const Project& project, const MapProperties& map, SnapReport& report);

/// Return twice the area of a ring, positive if it runs counterclockwise.
[[nodiscard]] double double_area(std::span<const Point> ring) noexcept;

}  // namespace barrio::delaunay::detail
