#pragma once

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"
#include "benchmarks/rankmap/halo_levels.hpp"

namespace barrio::bench {

struct HaloRunOptions {
  Cycle cycle = Cycle::none;
  double compute_seconds = 2e-3;  ///< per iteration on level 0, for a rank with the mean number of points
  int n_in_step = 1;              ///< iterations that all ranks start together
  int n_free = 3;                 ///< consecutive iterations
  std::string folder = ".";       ///< of the plan
};

/// Run iterations of a solver's communication: on each level that the cycle visits, compute, send 40 bytes for each
/// halo point, and wait for all messages. Computing takes simulated time in proportion to the rank's points on the
/// level. Collective. @return on all ranks the seconds of an iteration on the slowest rank: `seconds_in_step` for
/// iterations that start together, as after the reduction of a residual, without the time of the reduction; and
/// `seconds_free` for consecutive iterations, in which ranks drift apart and the computing of some hides the messages
/// of others
/// @throws Error{differs} if wrong values arrive in the first iteration
Json run_halo(mpi::Context& context, const HaloRunOptions& options);

}  // namespace barrio::bench
