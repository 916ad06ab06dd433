#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/io/vtk/vtk_grid.hpp"

namespace barrio::io::detail {

/// Name of the array by which VTK marks ghosts.
inline constexpr std::string_view vtk_ghost_array = "vtkGhostType";

/// Find the array that the file marks as the global ids of points or cells; null without one.
const VtkArray* find_id_array(const std::vector<VtkArray>& arrays);

/// Remove the cells that VTK marks as duplicates of cells of other pieces, and the array that marks them. Local, of one
/// share.
/// @param points_of_ghosts  gets the points of the removed cells, ascending; null: not wanted
/// @return the number of removed cells
std::int64_t drop_ghost_cells(VtkGrid& grid, std::vector<std::int64_t>* points_of_ghosts = nullptr);

/// A point, by its place, to be compared with those of other pieces.
struct PlacedPoint {
  std::array<std::uint64_t, 3> place;  ///< bits of the coordinates
  std::int64_t row;                    ///< in the file
  std::int64_t piece;
};
PlacedPoint placed_point(const double* coordinates, std::int64_t row, const std::vector<std::int64_t>& first_points);

/// Part of the largest coordinate: points of one global id that are farther apart are not one.
inline constexpr double point_tolerance = 1e-6;

/// Copies of points that were found.
struct PointCopies {
  struct Copy {
    std::int64_t row;
    std::int64_t of;  ///< the lowest row at the place
  };
  std::vector<Copy> copies;
  std::int64_t n_ambiguous = 0;  ///< places where a piece has several points, and others have some
};
/// Find points of different pieces at one place. Where a piece has several points, as along a crack, none are copies.
/// Local. Cost: O(n log n)
PointCopies find_copies(std::vector<PlacedPoint> points);

/// Make one mesh of the pieces of a file, and drop ghost cells. Collective.
/// Points of different pieces with one global id become one, and so do points of equal coordinates if the file marks no
/// ids; the lowest row stays. If ids are marked, points and cells get the order of the ids. The log tells what was
/// changed, and how many places are ambiguous.
/// Cost: one exchange of the points, one of the nodes of cells, and those of the values that move; memory O(share)
void unite_pieces(mpi::Context& context, VtkGrid& grid, const std::string& path);

}  // namespace barrio::io::detail
