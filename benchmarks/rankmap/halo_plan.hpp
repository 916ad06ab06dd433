#pragma once

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"
#include "benchmarks/rankmap/halo_levels.hpp"

namespace barrio::bench {

struct HaloPlanOptions {
  bool is_structured = false;  ///< the mesh: `wing_grid`, or a `plate_cloud` of 600 000 points
  Cut cut = Cut::scattered;
  Cycle cycle = Cycle::none;
  int n_ranks = 64;
  std::string machine = "8x8";  ///< as `rankmap::Machine::parse` takes it
  double bottleneck = 0.5;      ///< of barrio's own search, see `rankmap::MapOptions`
  std::string folder = ".";
};

/// Cut a mesh and its coarser levels, place the parts, and write all that a simulated run of them needs: a file
/// per level, and per order a host file `given.hosts`, `construction.hosts`, `improvement.hosts` (the paper's methods
/// as they are, even where they are worse than the order given) and `ours.hosts`. Line i of a host file is the host of
/// rank i. Placed is the traffic of all levels, each as often as a cycle visits it. Local, on one rank.
/// @return what was planned: halo points of each level, cost and busiest node of each order
Json make_halo_plan(mpi::Context& context, const HaloPlanOptions& options);

}  // namespace barrio::bench
