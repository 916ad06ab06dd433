#pragma once

#include <string>
#include <vector>

#include "benchmarks/mesh/options.hpp"

namespace barrio::bench {

/// Figures of a structured box with one decomposition. Times are of the slowest rank, min over repetitions.
struct StructuredFigures {
  std::string decomposition;
  std::int64_t n_cells = 0;
  std::int64_t n_shared = 0;      ///< shared vertices, summed over ranks
  double implicit_seconds = 0.0;  ///< decomposition, neighbours, shared vertices, handshake
  double explicit_seconds = 0.0;  ///< the same, with coordinates of all own vertices
  double implicit_bytes_per_cell = 0.0;
  double explicit_bytes_per_cell = 0.0;
  double general_seconds = 0.0;  ///< the general mesh of the same boxes: only sharing of vertices
};

/// Time the construction of a structured box with each decomposition, and with the general mesh. Collective.
/// @throws AgreedError{internal} if the two have different numbers of shared vertices
std::vector<StructuredFigures> measure_structured(mpi::Context& context, const MeshOptions& options);

}  // namespace barrio::bench
