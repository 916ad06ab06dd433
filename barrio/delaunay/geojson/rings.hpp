#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Positions of a ring, without the first one repeated at the end.
struct Ring {
  std::vector<Point> positions = {};
  std::vector<std::int32_t> numbers = {};  ///< of positions in the file, from 1; 0 for added ones
  std::int32_t feature = 0;                ///< from 1
  std::int32_t polygon = 0;                ///< of the feature, from 1
  std::int32_t number = 0;                 ///< of the polygon, from 1
  bool is_hole = false;
};

/// Rings of all polygons of a GeoJSON file.
struct RingsOfFile {
  std::vector<Ring> rings = {};
  std::vector<std::string> features = {};  ///< for the user: "feature 3 'Chad'"
  std::vector<std::string> names = {};     ///< their property `name`; empty without
  std::vector<std::string> left_out = {};
  int n_decimals = 0;  ///< of the coordinate that has most

  /// Name a ring for the user.
  [[nodiscard]] std::string name(const Ring& ring) const;
};

/// Read the rings of a GeoJSON file. Local. @throws as `read_geojson`
[[nodiscard]] RingsOfFile read_rings(const std::string& path);

/// Tell whether all positions may be longitudes and latitudes in degrees.
[[nodiscard]] bool are_degrees(const std::vector<Ring>& rings) noexcept;

}  // namespace barrio::delaunay::detail
