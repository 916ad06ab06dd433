#pragma once

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"
#include "benchmarks/rankmap/halo_levels.hpp"

namespace barrio::bench {

struct HaloRunOptions {
  Cycle cycle = Cycle::none;
  double compute_seconds = 2e-3;  ///< what a rank with a mean number of points computes on level 0 in an iteration
  int n_in_step = 1;              ///< iterations that all ranks begin together
  int n_free = 3;                 ///< iterations one after the other
  std::string folder = ".";       ///< of the plan
};

/// Do iterations of a solver's communication: on each level that the cycle visits, compute, send 40 bytes for each halo
/// point, and wait for all that come. Computing takes simulated time in proportion to the rank's points of the level.
/// Collective. @return on all ranks the seconds of an iteration on the slowest rank: `seconds_in_step`, of iterations
/// that begin together as after the reduction of a residual, whose own time is left out; and `seconds_free`, of
/// iterations one after the other, in which ranks drift apart and what some compute hides what others send
/// @throws Error{differs} if something else arrives in the first iteration than was sent
Json run_halo(mpi::Context& context, const HaloRunOptions& options);

}  // namespace barrio::bench
