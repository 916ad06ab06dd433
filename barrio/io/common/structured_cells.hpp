#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

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
  /// Visit cells first .. first + n - 1 by their corners: hexes, or quads, lines, a point where axes have one point.
  void for_each_cell(std::int64_t first, std::int64_t n,
                     const std::function<void(std::span<const std::int64_t>)>& visit) const;
};

/// Refuse a grid of which a rank cannot hold its share, before it is made: a few bytes of a file can announce one that
/// no machine holds. On all ranks alike.
/// @throws AgreedError{bad_input} naming `path`
void check_size(const PointGrid& grid, const std::string& path, int n_ranks);

}  // namespace barrio::io::detail
