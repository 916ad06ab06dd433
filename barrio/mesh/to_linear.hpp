#pragma once

/// @file Conversion of second-order meshes to first order.

#include <cstdint>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Numbers of cells that `to_linear` reduced and of vertices that it removed.
struct LinearReport {
  std::int64_t n_cells = 0;     ///< with more nodes than corners, sides included
  std::int64_t n_vertices = 0;  ///< that were not a corner of any cell
};

/// Reduce second-order cells to their corners, and drop vertices that were only mid-edge, mid-face or mid-cell nodes,
/// from sets and tags too. Collective. All that remains keeps its order; a vertex that no cell has stays.
/// @param[out] report  the same on every rank
/// Cost: three routed exchanges of ids and one of coordinates; memory O(n_local). Does not depend on the rank count.
MeshTables to_linear(mpi::Context& context, MeshTables tables, LinearReport& report);

}  // namespace barrio::mesh
