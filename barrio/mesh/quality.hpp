#pragma once

/// @file Shape of a single cell: edge lengths and corner volume.

#include <array>
#include <span>

#include "barrio/mesh/cell_type.hpp"

namespace barrio::mesh {

/// Shape of one cell, from its corners.
struct CellShape {
  double edge_ratio = 1.0;     ///< shortest edge / longest edge; 1 is best, 0 is degenerate
  double shortest_edge = 0.0;  ///< model units
  double longest_edge = 0.0;   ///< model units
  /// Smallest oriented volume at a corner (six times a tet's volume), for volumes; 1 for other cells and polyhedra.
  /// Negative: inverted.
  double corner_volume = 1.0;
};

/// Judge one cell. Local.
/// @param[in] corners  in the order of `CellType`: as many as the type has; for polygons any number; for polyhedra the
/// closed loops of their faces
CellShape cell_shape(CellType type, std::span<const std::array<double, 3>> corners);

}  // namespace barrio::mesh
