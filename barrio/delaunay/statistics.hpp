#pragma once

#include <array>
#include <cstdint>

#include "barrio/base/json.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// What the triangles of a triangulation look like.
struct ShapeStatistics {
  /// How many have a smallest angle of so many whole degrees; the last are those of 60.
  std::array<std::int64_t, 61> n_of_degree{};
  double min_angle = 0.0;  ///< degrees
  double area = 0.0;       ///< of all together
  double min_area = 0.0;
  double largest_area = 0.0;
};

/// Local. Cost: a pass over all triangles, some 10 ns each
[[nodiscard]] ShapeStatistics shape_statistics(const Triangulation& mesh);

[[nodiscard]] Json to_json(const ShapeStatistics& statistics);

}  // namespace barrio::delaunay
