#pragma once

#include "barrio/mesh/mesh.hpp"
#include "benchmarks/mesh/options.hpp"

namespace barrio::bench {

/// Figures of a mesh that changes, with five doubles on each vertex; times are the slowest rank's shortest.
struct ChangeFigures {
  double adopt_seconds = 0.0;     ///< apart and together again
  double adopt_peak_bytes = 0.0;  ///< all ranks: highest growth of memory in it
  double idle_seconds = 0.0;      ///< `migrate` that moves nothing
  double few_seconds = 0.0;       ///< one cell in a hundred goes to the next rank
  double half_seconds = 0.0;      ///< every second cell does, in one piece
  std::int64_t n_few = 0;         ///< cells that moved, all ranks
  std::int64_t n_half = 0;
  double half_peak_bytes = 0.0;   ///< all ranks: highest growth of memory while half moves
  std::int64_t memory_bytes = 0;  ///< all ranks: `Mesh::memory_bytes` before
};

/// Take a mesh apart and put it together, and move its cells, again and again; its checksums stay what they were.
/// Collective. @param mesh  consumed
/// @throws AgreedError{internal} if the mesh or the field is another one afterwards
ChangeFigures measure_change(mpi::Context& context, const MeshOptions& options, mesh::Mesh mesh);

}  // namespace barrio::bench
