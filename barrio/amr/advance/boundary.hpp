#pragma once

#include "barrio/amr/simulation.hpp"

namespace barrio::amr::detail {

/// Fill the cells of a view that lie beyond ends of the domain of its level, axis after axis, so that corners come from
/// what was filled before. @param across  how far it reaches along the other axes
template <std::size_t D>
void fill_boundary(const System<D>& system, const SimulationOptions<D>& options, const BlockSpace<D>& space, int level,
                   double time, int n_variables, const CellView<D>& view, const geometry::IndexBox<D>& across);

}  // namespace barrio::amr::detail
