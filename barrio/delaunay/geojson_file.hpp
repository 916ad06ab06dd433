#pragma once

/// @file GeoJSON: read polygons as regions of a graph, projected into a plane.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::delaunay {

/// Polygons of a GeoJSON file, as a graph.
struct GeoJsonFile {
  PlanarGraph graph;
  std::vector<std::string> left_out = {};  ///< contents without a place in a graph, for the user: "2 LineStrings"
};

/// Read the polygons of a GeoJSON file (RFC 7946). Each feature becomes a region. Its number is its position in the
/// file, from 1, which is also its attribute and the marker of its edges; its name is its property `name`, if any.
/// Everything outside the polygons is outside the domain. Polygons may share borders. Local.
/// @param project  replaces longitudes and latitudes in degrees by coordinates in a plane, all in one call. Without it
/// degrees are used as they are, and bounds on angles and areas then mean nothing on the ground
/// @throws Error{failed} if the file cannot be read; {bad_input}, naming the feature, for open or malformed rings, and
/// for files without polygons
[[nodiscard]] GeoJsonFile read_geojson(const std::string& path,
                                       const std::function<void(std::span<Point>)>& project = {});

}  // namespace barrio::delaunay
