#pragma once

#include "barrio/amr/simulation.hpp"

namespace barrio::amr::detail {

/// Fill the cells of a view that lie beyond ends of the domain of its level, axis after axis, so that corners come from
/// what was filled before. @param across  how far it reaches along the other axes
template <std::size_t D>
void fill_beyond_ends(const System<D>& system, const SimulationOptions<D>& options, const BlockSpace<D>& space,
                      int level, double time, int n_variables, const CellView<D>& view,
                      const geometry::IndexBox<D>& across);

/// The middle of a cell.
template <std::size_t D>
[[nodiscard]] std::array<double, D> middle_of(const BlockSpace<D>& space, int level,
                                              const typename geometry::IndexBox<D>::Index& cell) noexcept {
  std::array<double, D> x = space.options().low;
  const std::array<double, D> size = space.cell_size(level);
  for (std::size_t k = 0; k < D; ++k) x[k] += (static_cast<double>(cell[k]) + 0.5) * size[k];
  return x;
}

}  // namespace barrio::amr::detail
