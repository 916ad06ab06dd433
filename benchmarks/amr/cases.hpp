#pragma once

#include <memory>

#include "barrio/amr/euler.hpp"
#include "barrio/amr/simulation.hpp"

namespace barrio::bench {

struct AmrCase {
  std::shared_ptr<const amr::Euler<3>> system;
  amr::SimulationOptions<3> options;
};

/// Make a case: a shock of Mach 1.5 meets a wavy interface to a gas three times as dense (Richtmyer and Meshkov), in a
/// domain of 4 x 1 x 1. Cells are tagged where the density jumps by more than 0.1 between neighbours. Saif 2004,
/// section 4.4.
/// @param n  4 n x n x n cells on the coarsest level @param n_wide  number of such domains next to each other
AmrCase richtmyer_meshkov(std::int64_t n, int n_levels, int block_cells, int n_wide = 1);

/// Make a case: waves along the diagonal of a periodic cube of n^3 cells, one level.
AmrCase uniform_waves(std::int64_t n, int block_cells);

}  // namespace barrio::bench
