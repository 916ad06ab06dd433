#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "barrio/amr/euler.hpp"
#include "barrio/amr/simulation.hpp"

namespace barrio::amr::test {

/// Make options of a unit box. Primitive initial values are converted to conserved ones.
template <std::size_t D, class Primitive>
SimulationOptions<D> options_of(const std::shared_ptr<const Euler<D>>& euler, std::int64_t n, int n_levels,
                                Primitive primitive) {
  SimulationOptions<D> options;
  options.grid.n_levels = n_levels;
  options.grid.block_cells = 8;
  for (std::size_t k = 0; k < D; ++k) {
    options.grid.n_cells[k] = n;
    options.grid.cell_size[k] = 1.0 / static_cast<double>(n);
    options.grid.is_periodic[k] = true;
  }
  options.initial = [euler, primitive](const std::array<double, D>& x, std::span<double> u) {
    euler->conserve(primitive(x), u);
  };
  return options;
}

/// Tag cells where the density changes from a cell to the next.
template <std::size_t D>
auto tag_jumps(double most) {
  return [most](const CellsToTag<D>& block) {
    for (std::int64_t n = 0; n < block.cells.size(); ++n) {
      const auto at = block.cells.at(n);
      for (std::size_t k = 0; k < D; ++k) {
        auto below = at;
        auto above = at;
        below[k] -= 1;
        above[k] += 1;
        if (std::abs(block.u(0, above) - block.u(0, below)) > most) block.tags[n] = 1;
      }
    }
  };
}

/// Make options of a blob of other density that moves through the box.
template <std::size_t D>
std::vector<double> blob(const std::array<double, D>& x) {
  double square = 0.0;
  for (const double one : x) square += (one - 0.4) * (one - 0.4);
  std::vector<double> state{1.0 + (square < 0.02 ? 1.0 : 0.0)};
  for (std::size_t k = 0; k < D; ++k) state.push_back(0.7 - 0.4 * static_cast<double>(k));
  state.push_back(square < 0.01 ? 2.0 : 1.0);
  return state;
}

template <std::size_t D>
SimulationOptions<D> moving_blob(const std::shared_ptr<const Euler<D>>& euler) {
  SimulationOptions<D> options = options_of<D>(euler, D == 2 ? 32 : 16, 3, blob<D>);
  options.tag = tag_jumps<D>(0.1);
  options.buffer_cells = 2;
  options.regrid_interval = 4;
  return options;
}

}  // namespace barrio::amr::test
