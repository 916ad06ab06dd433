#pragma once

#include "benchmarks/mesh/options.hpp"

namespace barrio::bench {

/// Figures of joining four adjacent blocks of hexes.
struct JoinFigures {
  std::int64_t n_cells = 0;
  std::int64_t n_vertices_before = 0;
  std::int64_t n_vertices = 0;
  double seconds = 0.0;  ///< of the slowest rank, min over repetitions
};

/// Join blocks, check the counts, and time the join. Collective.
/// @throws AgreedError{internal} if the number of vertices is wrong
JoinFigures measure_join(mpi::Context& context, const MeshOptions& options);

}  // namespace barrio::bench
