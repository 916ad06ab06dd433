#pragma once

#include <cstdint>
#include <functional>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// The largest angle, in degrees, for which refinement is known to end where segments do not meet in small angles.
inline constexpr double guaranteed_angle = 20.7;

struct RefineOptions {
  /// Degrees: no triangle gets a smaller angle, but where segments meet in smaller ones. Up to `guaranteed_angle` it
  /// ends; above, up to 34, it does as well as a rule.
  double min_angle = 20.0;
  double max_area = 0.0;      ///< of a triangle, square units of coordinates; 0: no bound
  bool keeps_regions = true;  ///< whether bounds of regions count
  /// Bound of the area of triangles around a place, > 0; empty: none. It is asked at centroids.
  std::function<double(const Point&)> area_at = {};
  bool splits_boundary = true;                               ///< whether points may be put onto the boundary
  bool splits_segments = true;                               ///< whether points may be put onto segments inside
  std::int64_t max_triangles = (std::int64_t{1} << 30) - 1;  ///< refinement stops before there are more
  /// Called now and then with the number of triangles. It may throw: then the triangulation is one, refined in part.
  std::function<void(std::int64_t)> progress = {};
};

struct RefineReport {
  std::int64_t n_free_points = 0;       ///< added in the middle of triangles
  std::int64_t n_segment_points = 0;    ///< added onto segments
  std::int64_t n_removed_points = 0;    ///< of the free ones: they were too near to segments that were split
  std::int64_t n_left_at_segments = 0;  ///< that stay since segments may not be split
  std::int64_t n_left_by_rounding = 0;  ///< that stay since coordinates are too coarse for their points
  bool is_complete = true;              ///< false: `max_triangles` has been reached
};

/// Add points until all triangles are as wanted. Local. The result depends on the triangulation and the options alone.
/// @throws Error{usage} for angles outside of 0 to 34 degrees or bounds that are none; {bad_input} if area_at says what
/// is no bound
/// Cost: about O(points added), by time and memory. Source: Ruppert 1995; Shewchuk 2002; Uengoer 2009 on the places of
/// points
RefineReport refine(Triangulation& mesh, const RefineOptions& options = {});

}  // namespace barrio::delaunay
