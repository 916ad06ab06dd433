#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace barrio::io::detail {

/// Points of a grid, the first axis fastest.
struct PointGrid {
  std::array<std::int64_t, 3> dimensions;  ///< points along the axes, at least 1

  [[nodiscard]] std::int64_t n_points() const noexcept { return dimensions[0] * dimensions[1] * dimensions[2]; }
  [[nodiscard]] std::int64_t n_cells() const noexcept;
  /// Return VTK's number of the type of all the cells: hex, quad, line or vertex.
  [[nodiscard]] int vtk_type() const noexcept;
  /// Return the indices of a point along the axes.
  [[nodiscard]] std::array<std::int64_t, 3> place(std::int64_t point) const noexcept {
    return {point % dimensions[0], point / dimensions[0] % dimensions[1], point / dimensions[0] / dimensions[1]};
  }
  /// Visit cells first .. first + n - 1 by their corners: hexes, or quads, lines, a point if axes have only one point.
  void for_each_cell(std::int64_t first, std::int64_t n,
                     const std::function<void(std::span<const std::int64_t>)>& visit) const;
};

/// Refuse a grid of which a rank cannot hold its share, before it is made: a few bytes of a file can announce a grid
/// that no machine holds. Same result on all ranks.
/// @throws AgreedError{bad_input} naming `path`
void check_size(const PointGrid& grid, const std::string& path, int n_ranks);

}  // namespace barrio::io::detail
