#pragma once

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"
#include "benchmarks/rankmap/halo_levels.hpp"

namespace barrio::bench {

struct HaloPlanOptions {
  bool is_structured = false;  ///< use `wing_grid`, not a `plate_cloud` of 600 000 points
  Cut cut = Cut::scattered;
  Cycle cycle = Cycle::none;
  int n_ranks = 64;
  std::string machine = "8x8";  ///< for `rankmap::Machine::parse`
  double bottleneck = 0.5;      ///< of barrio's own search, see `rankmap::MapOptions`
  std::string folder = ".";
};

/// Partition a mesh and its coarser levels, place the parts, and write the files of a simulated run: one per level, and
/// for each order a host file `given.hosts`, `construction.hosts`, `improvement.hosts` (the paper's methods, even if
/// they are worse than the given order) and `ours.hosts`. Line i of a host file is the host of rank i. The placement
/// is for the traffic of all levels, weighted by their visits in a cycle. Local, on one rank.
/// @return the plan: halo points of each level, cost and busiest node of each order
Json make_halo_plan(mpi::Context& context, const HaloPlanOptions& options);

}  // namespace barrio::bench
