#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// What is to be triangulated: points, segments between them, holes and regions. A planar straight-line graph: segments
/// meet at points only, but a point may lie in the middle of a segment.
struct PlanarGraph {
  struct Edge {
    std::array<std::int32_t, 2> ends{};  ///< numbers of points
    std::int32_t marker = 0;             ///< of the user
  };
  /// A place between segments.
  struct RegionSeed {
    Point place{};
    double attribute = 0.0;
    double max_area = 0.0;    ///< of its triangles; 0: no bound
    std::int32_t number = 0;  ///< by which files know it; 0: its place in the list, from 1
  };
  static constexpr std::int32_t outside = -1;
  static constexpr std::int32_t no_region = 0;

  std::vector<Point> points = {};
  std::vector<std::int32_t> point_markers = {};  ///< of each point; or empty
  std::vector<Attribute> attributes = {};
  std::vector<double> attribute_values = {};  ///< of each point, the components of all attributes
  std::vector<Edge> segments = {};
  std::vector<Point> holes = {};  ///< places whose surroundings, up to the next segments, are left out
  std::vector<RegionSeed> regions = {};
  /// Of each segment, what lies on its left and on its right: a region by its place in the list from 1, `no_region`, or
  /// `outside`, against which any other segment there may name a region. Or empty: then places of holes and regions
  /// say it, which are not looked at otherwise.
  std::vector<std::array<std::int32_t, 2>> sides = {};
};

/// How a graph is triangulated.
struct TriangulateOptions {
  /// Triangulate the convex hull: else what lies outside of all segments is left out. Graphs without segments are
  /// triangulated so in any case.
  bool fills_hull = false;
};

/// Make the constrained Delaunay triangulation of a graph. It is unique: where points lie on one circle, their numbers
/// decide. Local.
/// @throws Error{bad_input} for coordinates that are no numbers, or too large or small for exact signs; for fewer than
/// three points, or points on one line; for two points in one place; for segments that cross, with the place; for
/// segments that enclose nothing; for numbers of points that are not there; for `sides` that contradict each other
/// Cost: O(n log n). Source: Bowyer 1981, Watson 1981; Amenta, Choi and Rote 2003 on the order of points
[[nodiscard]] Triangulation triangulate(const PlanarGraph& graph, const TriangulateOptions& options = {});

/// Cut segments at the points that lie on them, and leave one of those that are there twice, with the first marker and
/// what both say of their sides. Points may then be moved together, by a map, and stay on their segments. Local.
/// @throws Error{bad_input}, cost as triangulate
[[nodiscard]] PlanarGraph cut_at_points(PlanarGraph graph);

}  // namespace barrio::delaunay
