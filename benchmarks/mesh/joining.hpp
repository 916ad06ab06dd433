#pragma once

#include "benchmarks/mesh/options.hpp"

namespace barrio::bench {

/// Figures of joining four blocks of hexes side by side.
struct JoinFigures {
  std::int64_t n_cells = 0;
  std::int64_t n_vertices_before = 0;
  std::int64_t n_vertices = 0;
  double seconds = 0.0;  ///< shortest of all repetitions, the slowest rank's
};

/// Join blocks, check the counts, and time it. Collective.
/// @throws AgreedError{internal} if vertices are left over or too few
JoinFigures measure_join(mpi::Context& context, const MeshOptions& options);

}  // namespace barrio::bench
