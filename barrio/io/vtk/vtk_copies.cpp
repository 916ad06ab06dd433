#include <algorithm>
#include <bit>
#include <tuple>

#include "barrio/io/vtk/vtk_pieces.hpp"

namespace barrio::io::detail {
namespace {

/// Keep the rows of an array that are wanted.
void keep_rows(VtkArray& array, const std::vector<bool>& wanted) {
  const std::size_t width = array.n_components;
  std::visit(
      [&](auto& values) {
        std::size_t kept = 0;
        for (std::size_t row = 0; row < wanted.size(); ++row) {
          if (!wanted[row]) continue;
          std::copy_n(values.begin() + row * width, width, values.begin() + kept * width);
          ++kept;
        }
        values.resize(kept * width);
      },
      array.values);
}

}  // namespace

const VtkArray* find_id_array(const std::vector<VtkArray>& arrays) {
  const auto found = std::ranges::find_if(arrays, [](const VtkArray& array) {
    return array.is_id && array.n_components == 1 && array.values.index() == 0;
  });
  return found == arrays.end() ? nullptr : &*found;
}

std::int64_t drop_ghost_cells(VtkGrid& grid, std::vector<std::int64_t>* points_of_ghosts) {
  constexpr std::int64_t duplicate_cell = 1;
  const auto is_ghost_array = [](const VtkArray& array) { return array.name == vtk_ghost_array; };
  const auto ghosts = std::ranges::find_if(grid.on_cells, is_ghost_array);
  std::vector<bool> wanted(grid.types.size(), true);
  if (ghosts != grid.on_cells.end() && ghosts->n_components == 1 && ghosts->values.index() == 0)
    for (std::size_t c = 0; c < wanted.size(); ++c) wanted[c] = (std::get<0>(ghosts->values)[c] & duplicate_cell) == 0;
  std::erase_if(grid.on_cells, is_ghost_array);
  std::erase_if(grid.on_points, is_ghost_array);
  const std::int64_t n = std::ranges::count(wanted, false);
  if (n == 0) return 0;
  VtkGrid kept;
  for (std::size_t c = 0; c < wanted.size(); ++c) {
    const auto nodes =
        std::span<const std::int64_t>(grid.nodes).subspan(grid.offsets[c], grid.offsets[c + 1] - grid.offsets[c]);
    if (wanted[c])
      kept.add_cell(grid.types[c], nodes);
    else if (points_of_ghosts != nullptr)
      points_of_ghosts->insert(points_of_ghosts->end(), nodes.begin(), nodes.end());
  }
  grid.types = std::move(kept.types);
  grid.offsets = std::move(kept.offsets);
  grid.nodes = std::move(kept.nodes);
  for (VtkArray& array : grid.on_cells) keep_rows(array, wanted);
  if (points_of_ghosts != nullptr) {
    std::ranges::sort(*points_of_ghosts);
    const auto rest = std::ranges::unique(*points_of_ghosts);
    points_of_ghosts->erase(rest.begin(), rest.end());
  }
  return n;
}

PlacedPoint placed_point(const double* coordinates, std::int64_t row, const std::vector<std::int64_t>& first_points) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x + 0.0); };  // -0.0 is 0.0
  return {.place = {bits(coordinates[0]), bits(coordinates[1]), bits(coordinates[2])},
          .row = row,
          .piece = std::ranges::upper_bound(first_points, row) - first_points.begin()};
}

PointCopies find_copies(std::vector<PlacedPoint> points) {
  std::ranges::sort(points, {}, [](const PlacedPoint& p) { return std::tuple(p.place, p.row); });
  PointCopies found;
  for (auto first = points.begin(); first != points.end();) {
    const auto end = std::find_if(first, points.end(), [&](const PlacedPoint& p) { return p.place != first->place; });
    // Pieces ascend with rows.
    const auto same = [](const PlacedPoint& a, const PlacedPoint& b) { return a.piece == b.piece; };
    const bool has_several = std::adjacent_find(first, end, same) != end;
    if (first->piece == (end - 1)->piece) {
      // All belong to one piece.
    } else if (has_several) {
      found.n_ambiguous += 1;
    } else {
      for (auto copy = first + 1; copy != end; ++copy) found.copies.push_back({copy->row, first->row});
    }
    first = end;
  }
  return found;
}

}  // namespace barrio::io::detail
