#pragma once

#include "barrio/amr/simulation.hpp"

namespace barrio::amr::detail {

/// Apply boundary conditions: fill the cells of a view that lie beyond the domain, axis after axis. Corners are filled
/// from cells that an earlier axis has filled. @param across  cells to fill along the other axes
template <std::size_t D>
void fill_boundary(const System<D>& system, const SimulationOptions<D>& options, const BlockSpace<D>& space, int level,
                   double time, int n_variables, const CellView<D>& view, const geometry::IndexBox<D>& across);

}  // namespace barrio::amr::detail
