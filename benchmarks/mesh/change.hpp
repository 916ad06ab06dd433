#pragma once

#include "barrio/mesh/mesh.hpp"
#include "benchmarks/mesh/options.hpp"

namespace barrio::bench {

/// Figures of mesh changes, with five doubles on each vertex; times are of the slowest rank, min over repetitions.
struct ChangeFigures {
  double adopt_seconds = 0.0;     ///< `release` and `adopt`
  double adopt_peak_bytes = 0.0;  ///< all ranks: peak growth of memory in it
  double idle_seconds = 0.0;      ///< `migrate` that moves nothing
  double few_seconds = 0.0;       ///< one cell in a hundred moves to the next rank
  double half_seconds = 0.0;      ///< half of the cells move, in one piece
  std::int64_t n_few = 0;         ///< cells that moved, all ranks
  std::int64_t n_half = 0;
  double half_peak_bytes = 0.0;   ///< all ranks: peak growth of memory while half of them move
  std::int64_t memory_bytes = 0;  ///< all ranks: `Mesh::memory_bytes` before
};

/// Time `release` with `adopt`, and `migrate`, repeatedly; checksums must not change. Collective. @param mesh  consumed
/// @throws AgreedError{internal} if the mesh or the field changed
ChangeFigures measure_change(mpi::Context& context, const MeshOptions& options, mesh::Mesh mesh);

}  // namespace barrio::bench
