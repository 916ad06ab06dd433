#pragma once

#include <cstdint>
#include <vector>

#include "barrio/delaunay/parted.hpp"
#include "barrio/delaunay/size/area_bound.hpp"

namespace barrio::delaunay::detail {

/// A domain that is cut into parts.
struct Decomposition {
  std::vector<Part> parts;
  std::vector<std::int64_t> work;  ///< of each, in proportion to the expected number of triangles
  std::int32_t n_shared = 0;
  std::int64_t n_coarse_triangles = 0;
  std::int64_t n_corridor_points = 0;
  std::int64_t n_interfaces = 0;
  double min_corner = 180.0;  ///< degrees
};

/// Cut a triangulation into parts of about equal work. First its triangles are bounded in area, so that there are some
/// 60 for each part; these are cut by coordinates; then only a corridor along the cut is refined by angle, so that
/// edges of good triangles separate the parts. Local.
/// @param mesh  not refined; consumed @param areas  bounds by position, or null @param n_parts  0: chosen
/// Cost: linear in the mesh and its coarse refinement; twice its memory
[[nodiscard]] Decomposition decompose(Triangulation mesh, const RefineOptions& options, AreaBound* areas,
                                      std::int32_t n_parts);

}  // namespace barrio::delaunay::detail
