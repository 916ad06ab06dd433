#pragma once

/// @file Repair of graphs: points and segments within a tolerance merge, crossings are cut, overlaps are resolved.

#include <cstdint>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::delaunay {

/// Options of `snap`.
struct SnapOptions {
  double tolerance = 0.0;           ///< > 0, in units of the coordinates
  bool drops_loose_points = false;  ///< drop points that no segment ends in
};

/// Changes that `snap` made to a graph.
struct SnapReport {
  /// Area that two regions claimed, by their positions in the list from 1. The first one keeps it.
  struct Overlap {
    std::int32_t kept = 0;  ///< region that keeps the area
    std::int32_t lost = 0;  ///< region that loses it; 0: an area inside the domain without a region
    double area = 0.0;      ///< square units of coordinates
  };
  double tolerance = 0.0;                            ///< that of the options, in units of coordinates
  std::int64_t n_merged_points = 0;                  ///< points that became one with another
  double max_move = 0.0;                             ///< of a point
  std::int64_t n_points_on_segments = 0;             ///< times a segment was cut at a point near it
  std::int64_t n_crossings = 0;                      ///< new points where segments cross
  std::int64_t n_repeated_segments = 0;              ///< pieces of segments that became one with another
  std::vector<std::int32_t> vanished_segments = {};  ///< rows of segments that no piece is left of
  std::vector<std::int32_t> vanished_regions = {};   ///< named by `sides`, but without any area now
  /// Area that the border of a region surrounds with the region on its outer side, which is left out: where a ring
  /// crosses itself, or a hole lies outside.
  struct Inverted {
    std::int32_t region = 0;  ///< its position in the list from 1
    double area = 0.0;        ///< of all such places, square units of coordinates
  };
  std::vector<Inverted> inverted = {};  ///< by ascending region
  std::vector<Overlap> overlaps = {};   ///< one for each pair of regions
  double overlap_area = 0.0;            ///< sum over `overlaps`: an area that three regions claim counts twice
};

/// Make a graph that `triangulate` takes: points within the tolerance merge, segments within the tolerance of a point
/// end there, and segments that cross get a point. Pieces that coincide merge: the first marker stays. With `sides`,
/// an area that several regions cover goes to the first of them, and pieces with one region on both sides are dropped
/// unless the graph has them. Markers and attributes of points are those of the first merged point; at a crossing,
/// attributes are linear on both segments, and their mean is taken. The result does not depend on the order of points
/// and segments, except for its order and for markers that compete. Local.
/// @post each point of the input has a vertex within the tolerance; each segment has a chain of pieces within twice
/// the tolerance, or a little more where crossings are dense; no two points lie within the tolerance of each other
/// @throws Error{usage} if the tolerance is not positive, smaller than coordinates can resolve, or larger than the
/// domain; {bad_input} for what is wrong with the graph besides places, if nothing is left, if segments move across the
/// position of a hole or region, or if sides of a region do not close around it
/// Cost: O((n + k) log n) for k crossings, unless very many long segments run side by side.
/// Source: Guibas and Marimont 1998 and Halperin and Packer 2002 on snap rounding, here with points in place of pixels
SnapReport snap(PlanarGraph& graph, const SnapOptions& options);

/// Return the smallest tolerance that doubles can resolve beside a coordinate. Local.
[[nodiscard]] double min_tolerance(double largest_coordinate) noexcept;

}  // namespace barrio::delaunay
