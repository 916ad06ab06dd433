#pragma once

/// @file Planar straight-line graphs and their constrained Delaunay triangulation.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// Planar straight-line graph, the input of a triangulation: points, segments between them, holes and regions. Segments
/// meet only at points, but a point may lie in the interior of a segment.
struct PlanarGraph {
  /// A segment.
  struct Edge {
    std::array<std::int32_t, 2> ends{};  ///< rows of `points`
    std::int32_t marker = 0;             ///< set by the user
  };
  /// Region, given by a position between segments.
  struct RegionSeed {
    Point place{};            ///< inside the region; ignored with `sides`
    double attribute = 0.0;   ///< set by the user
    double max_area = 0.0;    ///< bound of its triangles; 0: none
    std::int32_t number = 0;  ///< its number in files; 0: its position in the list, from 1
    std::string name = {};    ///< may be empty
  };
  static constexpr std::int32_t outside = -1;   ///< side of a segment where nothing is triangulated
  static constexpr std::int32_t no_region = 0;  ///< side of a segment inside the domain, but in no region

  std::vector<Point> points = {};  ///< also those without a segment; only `snap` takes two at one position
  std::vector<std::int32_t> point_markers = {};  ///< of each point; or empty
  std::vector<Attribute> attributes = {};        ///< of points, in the order of `attribute_values`
  std::vector<double> attribute_values = {};     ///< of each point, all components of all attributes
  std::vector<Edge> segments = {};               ///< may coincide; only `snap` takes segments that cross
  std::vector<Point> holes = {};         ///< positions; the area around each, up to the nearest segments, is left out
  std::vector<RegionSeed> regions = {};  ///< `sides` names them by position from 1
  std::vector<MarkerName> marker_names = {};  ///< of some markers of segments
  /// Region on the left and on the right of each segment: its position in the list from 1, `no_region`, or `outside`.
  /// Where one segment says `outside`, another on the same edge may name a region. If this is empty, the positions of
  /// holes and regions decide; otherwise these positions are ignored.
  std::vector<std::array<std::int32_t, 2>> sides = {};
};

/// Options of `triangulate`.
struct TriangulateOptions {
  /// Triangulate the convex hull. Otherwise the area outside all segments is left out. A graph without segments is
  /// always triangulated up to its convex hull.
  bool fills_hull = false;
};

/// Make the constrained Delaunay triangulation of a graph. It is unique: where points lie on one circle, their
/// coordinates decide. Local.
/// @throws Error{bad_input} for coordinates that are not finite, or too large or small for exact signs; for fewer than
/// three points, or points on one line; for two points at one position; for segments that cross, with the position; for
/// segments that enclose nothing; for rows of points out of range; for `sides` that contradict each other. {usage} for
/// `fills_hull` with `sides`
/// Cost: O(n log n). Source: Bowyer 1981, Watson 1981; Amenta, Choi and Rote 2003 on the order of points
[[nodiscard]] Triangulation triangulate(const PlanarGraph& graph, const TriangulateOptions& options = {});

/// Cut segments at the points that lie on them. Of segments that coincide keep one, with the first marker and the sides
/// that all of them give. A map may then move the points, and they stay on their segments. Local.
/// @throws Error{bad_input}, cost as triangulate
[[nodiscard]] PlanarGraph cut_at_points(PlanarGraph graph);

}  // namespace barrio::delaunay
