#pragma once

#include <cstdint>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "benchmarks/rankmap/instances.hpp"

namespace barrio::bench {

/// Who gives Zoltan the points: figure 4 of the paper compares what that does to the numbering of parts.
enum class Input {
  serial,       ///< rank 0 gives all of them
  distributed,  ///< each rank gives a run of them
};

/// Cut the points of a grid by Zoltan's graph partitioner (PHG on a graph). Collective.
/// @return the part of each point, on all ranks
/// @throws AgreedError{usage} if this build lacks Zoltan, AgreedError{failed} if Zoltan gives up
std::vector<std::int32_t> cut_by_zoltan_graph(mpi::Context& context, const PointGrid& grid, Input input, int n_parts);

}  // namespace barrio::bench
