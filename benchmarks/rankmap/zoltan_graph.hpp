#pragma once

#include <cstdint>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "benchmarks/rankmap/instances.hpp"

namespace barrio::bench {

/// Distribution of Zoltan's input. Figure 4 of the paper compares its effect on the numbering of parts.
enum class Input {
  serial,       ///< all points on rank 0
  distributed,  ///< a contiguous range of points on each rank
};

/// Partition the points of a grid with Zoltan's graph partitioner (PHG on a graph). Collective.
/// @return the part of each point, on all ranks
/// @throws AgreedError{usage} if this build lacks Zoltan, AgreedError{failed} if Zoltan fails
std::vector<std::int32_t> cut_by_zoltan_graph(mpi::Context& context, const PointGrid& grid, Input input, int n_parts);

}  // namespace barrio::bench
