#pragma once

#include <array>
#include <cstdint>

#include "barrio/io/detail/vtk_grid.hpp"

namespace barrio::io::detail {

/// Points of a grid, the first axis running fastest.
struct PointGrid {
  std::array<std::int64_t, 3> dimensions;  ///< points along the axes, at least 1

  [[nodiscard]] std::int64_t n_points() const noexcept { return dimensions[0] * dimensions[1] * dimensions[2]; }
  [[nodiscard]] std::int64_t n_cells() const noexcept;
  /// VTK's number of the type of all the cells: hex, or quad, line, vertex.
  [[nodiscard]] int vtk_type() const noexcept;
  /// Place of a point along the axes.
  [[nodiscard]] std::array<std::int64_t, 3> place(std::int64_t point) const noexcept {
    return {point % dimensions[0], point / dimensions[0] % dimensions[1], point / dimensions[0] / dimensions[1]};
  }
  /// Append cells first .. first + n - 1: hexes, or quads, lines, a point where axes have one point.
  void add_cells(std::int64_t first, std::int64_t n, VtkGrid& grid) const;
};

}  // namespace barrio::io::detail
