#pragma once

#include <string>
#include <vector>

#include "benchmarks/mesh/options.hpp"

namespace barrio::bench {

/// Figures of a structured box with one decomposition. Times are the shortest of all repetitions, the slowest rank's.
struct StructuredFigures {
  std::string decomposition;
  std::int64_t n_cells = 0;
  std::int64_t n_shared = 0;      ///< shared vertices, summed over ranks
  double implicit_seconds = 0.0;  ///< cut, neighbours, shared vertices, handshake
  double explicit_seconds = 0.0;  ///< the same, and coordinates of all own vertices
  double implicit_bytes_per_cell = 0.0;
  double explicit_bytes_per_cell = 0.0;
  double general_seconds = 0.0;  ///< the general mesh of the same boxes: sharing of vertices alone
};

/// Construct and resolve a structured box by each decomposition, and by the general mesh. Collective.
/// @throws AgreedError{internal} if the two find different numbers of shared vertices
std::vector<StructuredFigures> measure_structured(mpi::Context& context, const MeshOptions& options);

}  // namespace barrio::bench
