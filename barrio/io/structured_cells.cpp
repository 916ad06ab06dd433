#include "barrio/io/detail/structured_cells.hpp"

#include <algorithm>

namespace barrio::io::detail {

std::int64_t PointGrid::n_cells() const noexcept {
  std::int64_t n = 1;
  for (const std::int64_t points : dimensions) n *= std::max<std::int64_t>(points - 1, 1);
  return n;
}

int PointGrid::vtk_type() const noexcept {
  constexpr std::array<int, 4> types{1, 3, 9, 12};
  return types[static_cast<std::size_t>(std::ranges::count_if(dimensions, [](std::int64_t n) { return n > 1; }))];
}

void PointGrid::add_cells(std::int64_t first, std::int64_t n, VtkGrid& grid) const {
  // Steps from a point to the next one along the axes that have several.
  std::array<std::int64_t, 3> steps{};
  std::size_t dim = 0;
  std::int64_t step = 1;
  for (const std::int64_t points : dimensions) {
    if (points > 1) steps[dim++] = step;
    step *= points;
  }
  const int type = vtk_type();
  const auto [a, b, c] = steps;
  const std::array<std::int64_t, 8> corners{0, a, a + b, b, c, c + a, c + a + b, c + b};
  const PointGrid cells{{std::max<std::int64_t>(dimensions[0] - 1, 1), std::max<std::int64_t>(dimensions[1] - 1, 1),
                         std::max<std::int64_t>(dimensions[2] - 1, 1)}};
  std::array<std::int64_t, 8> nodes{};
  for (std::int64_t cell = first; cell < first + n; ++cell) {
    const auto [i, j, k] = cells.place(cell);
    const std::int64_t low = (k * dimensions[1] + j) * dimensions[0] + i;
    std::ranges::transform(corners, nodes.begin(), [&](std::int64_t corner) { return low + corner; });
    grid.add_cell(type, std::span<const std::int64_t>(nodes).first(std::size_t{1} << dim));
  }
}

}  // namespace barrio::io::detail
