#pragma once

/// @file Refinement: add points until triangles meet bounds on angles and areas.

#include <cstdint>
#include <functional>
#include <vector>

#include "barrio/delaunay/size_field.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// Largest min angle, in degrees, for which refinement is known to end if segments do not meet in small angles.
inline constexpr double guaranteed_angle = 20.7;

/// Options of `refine`.
struct RefineOptions {
  /// Degrees: no triangle gets a smaller angle, except where segments meet in smaller ones. Refinement ends up to
  /// `guaranteed_angle`; it usually succeeds up to 34.
  double min_angle = 20.0;
  double max_area = 0.0;      ///< of a triangle, square units of coordinates; 0: no bound
  bool keeps_regions = true;  ///< whether area bounds of regions count
  /// Bound of the area of triangles by position, > 0; empty: none. Each triangle meets it at its centroid, and four
  /// times the bound at all samples in it. It is evaluated at centroids and at one sample in each square of a grid.
  std::function<double(const Point&)> area_at = {};
  /// Distance of the samples of `area_at`; 0: that of 2^18 in the rectangle around the domain, a 512th of a square's
  /// side. Narrower places may be missed.
  double resolution = 0.0;
  /// Wanted edge lengths by position: no triangle is larger than the equilateral one with this edge at its centroid, or
  /// with twice this edge anywhere in it. It needs no samples.
  SizeField size = {};
  /// Move an added vertex of a bad triangle to where this triangle meets its bounds and others still do, before another
  /// one is added: fewer triangles in up to twice the time. Source: Erten and Uengoer 2009
  bool moves_points = false;
  bool splits_boundary = true;                  ///< whether points may be added on the boundary
  bool splits_segments = true;                  ///< whether points may be added on any segment
  std::vector<std::int32_t> kept_markers = {};  ///< of segments on which no points are added
  /// Refinement stops before there are more. 0: it stops where the min angle alone would need more than five
  /// million triangles and a thousand for each vertex that there is at first, which real input does not need. Area
  /// bounds raise that limit.
  std::int64_t max_triangles = 0;
  /// Called from time to time with the number of triangles. It may throw: the triangulation is then valid, and partly
  /// refined.
  std::function<void(std::int64_t)> progress = {};
};

/// Counts of a refinement.
struct RefineReport {
  std::int64_t n_free_points = 0;       ///< added inside triangles
  std::int64_t n_segment_points = 0;    ///< added on segments
  std::int64_t n_removed_points = 0;    ///< free points removed again: too near to segments that were split
  std::int64_t n_moved_points = 0;      ///< moves of free points
  std::int64_t n_left_at_segments = 0;  ///< times a bad triangle was left because segments may not be split
  std::int64_t n_left_by_rounding = 0;  ///< times one was left because coordinates are too coarse
  bool is_complete = true;              ///< false: `max_triangles` was reached
  std::int64_t max_triangles = 0;       ///< the limit at the end: given, or chosen if it was 0
};

/// Add points until all triangles meet their bounds. Local. The result depends only on the triangulation and the
/// options.
/// @throws Error{usage} for a min angle outside 0 to 34 degrees, a negative max area or number of triangles, and a
/// resolution with more than 2^24 samples; {bad_input} if area_at returns a value that is not above 0. Cost: about
/// O(points added), in time and memory. Source: Ruppert 1995; Shewchuk 2002; Uengoer 2009 on the positions of points
RefineReport refine(Triangulation& mesh, const RefineOptions& options = {});

}  // namespace barrio::delaunay
