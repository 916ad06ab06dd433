#include "barrio/amr/advance/boundary.hpp"

#include <algorithm>
#include <vector>

#include "barrio/amr/advance/tile.hpp"

namespace barrio::amr::detail {
namespace {

/// Let the states beyond a wall balance the sources of the cells that they mirror.
template <std::size_t D>
void balance(const System<D>& system, const SimulationOptions<D>& options, const BlockSpace<D>& space, int level,
             double time, int n_variables, const CellView<D>& view, const geometry::IndexBox<D>& beyond,
             std::size_t axis, bool is_high) {
  const geometry::IndexBox<D> domain = space.domain(level);
  const std::int64_t mirror = is_high ? 2 * domain.high[axis] - 1 : 2 * domain.low[axis] - 1;
  geometry::IndexBox<D> within = beyond;
  within.low[axis] = mirror - (beyond.high[axis] - 1);
  within.high[axis] = mirror - beyond.low[axis] + 1;
  std::vector<double> changes(within.size() * n_variables, 0.0);
  const CellView<D> change = view_of<D>(changes.data(), within);
  options.source({.level = level, .time = time, .space = space, .u = view, .cells = within, .change = change});
  std::vector<double> u(n_variables);
  std::vector<double> source(n_variables);
  for (std::int64_t n = 0; n < beyond.size(); ++n) {
    const auto at = beyond.at(n);
    auto from = at;
    from[axis] = mirror - at[axis];
    for (int v = 0; v < n_variables; ++v) {
      u[v] = view(v, at);
      source[v] = change(v, from);
    }
    system.balance_wall(u, source, axis, static_cast<double>(at[axis] - from[axis]) * space.cell_size(level)[axis]);
    for (int v = 0; v < n_variables; ++v) view(v, at) = u[v];
  }
}

template <std::size_t D>
void fill_face(const System<D>& system, const SimulationOptions<D>& options, const BlockSpace<D>& space, int level,
               double time, int n_variables, const CellView<D>& view, const geometry::IndexBox<D>& across,
               std::size_t axis, bool is_high) {
  using Index = typename geometry::IndexBox<D>::Index;
  const geometry::IndexBox<D> domain = space.domain(level);
  geometry::IndexBox<D> beyond = across;
  beyond.low[axis] = view.cells.low[axis];
  beyond.high[axis] = view.cells.high[axis];
  if (is_high)
    beyond.low[axis] = std::max(beyond.low[axis], domain.high[axis]);
  else
    beyond.high[axis] = std::min(beyond.high[axis], domain.low[axis]);
  const BoundaryCondition condition = options.boundary[axis][is_high ? 1 : 0];
  std::vector<double> u(n_variables);
  for (std::int64_t n = 0; n < beyond.size(); ++n) {
    const Index at = beyond.at(n);
    if (condition == BoundaryCondition::inflow) {
      options.inflow(space.centre(level, at), time, u);
      for (int v = 0; v < n_variables; ++v) view(v, at) = u[v];
      continue;
    }
    Index from = at;
    if (condition == BoundaryCondition::outflow)
      from[axis] = is_high ? domain.high[axis] - 1 : domain.low[axis];
    else
      from[axis] = is_high ? 2 * domain.high[axis] - 1 - at[axis] : 2 * domain.low[axis] - 1 - at[axis];
    for (int v = 0; v < n_variables; ++v)
      view(v, at) = (condition == BoundaryCondition::wall ? system.reflected(v, axis) : 1.0) * view(v, from);
  }
  if (condition == BoundaryCondition::wall && options.source)
    balance(system, options, space, level, time, n_variables, view, beyond, axis, is_high);
}

}  // namespace

template <std::size_t D>
void fill_boundary(const System<D>& system, const SimulationOptions<D>& options, const BlockSpace<D>& space, int level,
                   double time, int n_variables, const CellView<D>& view, const geometry::IndexBox<D>& across) {
  for (std::size_t axis = 0; axis < D; ++axis)
    if (!options.grid.is_periodic[axis])
      for (const bool is_high : {false, true})
        fill_face(system, options, space, level, time, n_variables, view, across, axis, is_high);
}

template void fill_boundary<2>(const System<2>&, const SimulationOptions<2>&, const BlockSpace<2>&, int, double, int,
                               const CellView<2>&, const geometry::IndexBox<2>&);
template void fill_boundary<3>(const System<3>&, const SimulationOptions<3>&, const BlockSpace<3>&, int, double, int,
                               const CellView<3>&, const geometry::IndexBox<3>&);

}  // namespace barrio::amr::detail
