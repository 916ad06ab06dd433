#pragma once

/// @file GeoJSON: read polygons as regions of a graph, repaired, and projected into a plane.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/snap.hpp"

namespace barrio::delaunay {

/// Polygons of a GeoJSON file, as a graph.
struct GeoJsonFile {
  PlanarGraph graph;  ///< regions in the order of features; in the plane if `is_projected`, else in units of the file
  std::vector<std::string> left_out = {};  ///< contents without a place in a graph, for the user: "2 LineStrings"
  std::vector<std::string> features = {};  ///< names for the user: "feature 3 'Chad'"
  std::int64_t n_positions = 0;            ///< different positions in the file
  std::int64_t n_edges = 0;                ///< of rings
  bool is_projected = false;               ///< `project` was applied to the graph
  std::optional<SnapReport> snapped = {};  ///< in units of the file; empty if nothing was snapped
  std::vector<std::string> vanished = {};  ///< features and rings that snapping leaves nothing of, for the user
  std::int64_t n_cut_rings = 0;            ///< rings from one side of 180 degrees to the other, cut there
};

/// Options of `read_geojson`.
struct GeoJsonOptions {
  /// Tolerance of `snap`, in units of the file; 0: leave coordinates as they are, and refuse what does not fit. Without
  /// it: a unit of the last decimal in the file, but at least `min_default_tolerance`, since finer digits of degrees
  /// are rarely meant, and at most a hundredth of the median edge.
  std::optional<double> tolerance = {};
  /// Replace longitudes and latitudes in degrees by coordinates in a plane. It is called several times, and first with
  /// all positions of the file. Without it degrees are used as they are, and bounds on angles and areas then mean
  /// nothing on the ground.
  std::function<void(std::span<Point>)> project = {};
  bool projects_degrees_alone = false;  ///< project only if all positions may be longitudes and latitudes
  /// Features whose areas stay empty, such as land in the sea: their property `name`, or else their number from 1.
  std::vector<std::string> holes = {};
};

inline constexpr double min_default_tolerance = 1e-5;  ///< degrees; about a metre

/// Read the polygons of a GeoJSON file (RFC 7946). Each feature becomes a region. Its number is its position in the
/// file, from 1, which is also its attribute and the marker of its edges; its property `name` names both.
/// Everything outside the polygons is outside the domain. Polygons may share borders. They are snapped; where they
/// overlap, the first one keeps the area. In a projection in which both sides of 180 degrees lie in one place, polygons
/// that were cut there are joined, and edges along a pole go. Local.
/// @throws Error{failed} if the file cannot be read; {bad_input}, naming feature, ring and position, for open or
/// malformed rings, for files without polygons, if nothing but holes is left, and without snapping for edges that
/// cross; {usage} for a hole that names no feature; as `snap`
[[nodiscard]] GeoJsonFile read_geojson(const std::string& path, const GeoJsonOptions& options = {});

}  // namespace barrio::delaunay
