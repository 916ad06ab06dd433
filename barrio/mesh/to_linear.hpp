#pragma once

#include <cstdint>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// What `to_linear` took away.
struct LinearReport {
  std::int64_t n_cells = 0;     ///< that had more nodes than corners, sides among them
  std::int64_t n_vertices = 0;  ///< that were no corner of any cell
};

/// Reduce second-order cells to their corners, and drop vertices that were only mid-edge, mid-face or mid-cell nodes,
/// from sets and tags too. Collective. What is left keeps its order; a vertex that no cell has stays.
/// @param[out] report  the same on every rank
/// Cost: three routed exchanges of ids and one of coordinates; memory O(n_local). Does not depend on the rank count.
MeshTables to_linear(mpi::Context& context, MeshTables tables, LinearReport& report);

}  // namespace barrio::mesh
