#pragma once

/// @file Statistics of a triangulation: angles and areas.

#include <array>
#include <cstdint>

#include "barrio/base/json.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// Statistics of the angles and areas of triangles.
struct ShapeStatistics {
  /// Number of triangles by their smallest angle in whole degrees, from 0 to 60.
  std::array<std::int64_t, 61> n_of_degree{};
  double min_angle = 0.0;  ///< degrees
  double area = 0.0;       ///< sum over all triangles
  double min_area = 0.0;   ///< of the smallest triangle
  double max_area = 0.0;   ///< of the largest triangle
};

/// Compute the statistics of a triangulation. Local. Cost: a pass over all triangles, some 10 ns each
[[nodiscard]] ShapeStatistics shape_statistics(const Triangulation& mesh);

/// Return the statistics as JSON: `angles` and `areas`. Local.
[[nodiscard]] Json to_json(const ShapeStatistics& statistics);

}  // namespace barrio::delaunay
