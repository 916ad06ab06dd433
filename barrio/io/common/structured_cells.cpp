#include "barrio/io/common/structured_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/mpi/agree.hpp"

namespace barrio::io::detail {

std::int64_t PointGrid::n_cells() const noexcept {
  std::int64_t n = 1;
  for (const std::int64_t points : dimensions) n *= std::max<std::int64_t>(points - 1, 1);
  return n;
}

int PointGrid::vtk_type() const noexcept {
  constexpr std::array<int, 4> types{1, 3, 9, 12};
  return types[std::ranges::count_if(dimensions, [](std::int64_t n) { return n > 1; })];
}

void PointGrid::for_each_cell(std::int64_t first, std::int64_t n,
                              const std::function<void(std::span<const std::int64_t>)>& visit) const {
  // Steps from a point to the next one along the axes that have several points.
  std::array<std::int64_t, 3> steps{};
  std::size_t dim = 0;
  std::int64_t step = 1;
  for (const std::int64_t points : dimensions) {
    if (points > 1) steps[dim++] = step;
    step *= points;
  }
  const auto [a, b, c] = steps;
  const std::array<std::int64_t, 8> corners{0, a, a + b, b, c, c + a, c + a + b, c + b};
  const PointGrid cells{{std::max<std::int64_t>(dimensions[0] - 1, 1), std::max<std::int64_t>(dimensions[1] - 1, 1),
                         std::max<std::int64_t>(dimensions[2] - 1, 1)}};
  std::array<std::int64_t, 8> nodes{};
  for (std::int64_t cell = first; cell < first + n; ++cell) {
    const auto [i, j, k] = cells.place(cell);
    const std::int64_t low = (k * dimensions[1] + j) * dimensions[0] + i;
    std::ranges::transform(corners, nodes.begin(), [&](std::int64_t corner) { return low + corner; });
    visit(std::span<const std::int64_t>(nodes).first(std::size_t{1} << dim));
  }
}

void check_size(const PointGrid& grid, const std::string& path, int n_ranks) {
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const std::int64_t n = std::max(grid.n_points(), grid.n_cells());
  if (n / n_ranks < most) return;
  throw AgreedError(
      ErrorCode::bad_input,
      {.subject = path,
       .cause = fmt::format("has a grid of {} points and {} cells, but a rank holds at most {}", grid.n_points(),
                            grid.n_cells(), most),
       .remedy = fmt::format("check the dimensions of the grid, or run on more than {} ranks", n / most)});
}

}  // namespace barrio::io::detail
