#pragma once

#include <memory>

#include "barrio/amr/euler.hpp"
#include "barrio/amr/simulation.hpp"

namespace barrio::bench {

struct AmrCase {
  std::shared_ptr<const amr::Euler<3>> system;
  amr::SimulationOptions<3> options;
};

/// A shock of Mach 1.5 that meets a wavy interface to a gas three times as dense (Richtmyer and Meshkov), in a domain
/// of 4 x 1 x 1; cells are tagged where the density jumps by more than 0.1 from one to the next. Saif 2004,
/// section 4.4.
/// @param n  cells across: 4 n x n x n on the coarsest level @param n_wide  as many such domains side by side
AmrCase richtmyer_meshkov(std::int64_t n, int n_levels, int block_cells, int n_wide = 1);

/// Waves along the diagonal of a periodic cube of n^3 cells, one level.
AmrCase uniform_waves(std::int64_t n, int block_cells);

}  // namespace barrio::bench
