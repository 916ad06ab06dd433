#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::delaunay {

/// The polygons of a GeoJSON file.
struct GeoJsonFile {
  PlanarGraph graph;
  std::vector<std::string> left_out = {};  ///< told to the user: "2 LineStrings"
};

/// Read the polygons of a GeoJSON file (RFC 7946): each feature is a region, by its place in the file from 1, which is
/// its attribute and the marker of its edges too. What lies in no polygon is outside; borders may be shared. Local.
/// @param project  replaces degrees of longitude and latitude by coordinates in a plane, all at once; without it they
/// are taken as they are, and bounds of angles and areas then mean nothing on the ground
/// @throws Error{failed} if it cannot be read; {bad_input} naming the feature, for rings that are open or no rings,
/// and for files without polygons
[[nodiscard]] GeoJsonFile read_geojson(const std::string& path,
                                       const std::function<void(std::span<Point>)>& project = {});

}  // namespace barrio::delaunay
