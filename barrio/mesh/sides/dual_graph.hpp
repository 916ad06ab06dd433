#pragma once

#include "barrio/mesh/tables.hpp"
#include "barrio/partition/graph.hpp"

namespace barrio::mesh {

/// Build the graph whose vertices are the top cells and whose edges join cells with a common side. Collective.
/// Rows of the graph are the cells' global ids. Cost: each side travels once to a rank found by hashing its corners,
/// and back; memory O(sides of this rank's cells).
partition::Graph dual_graph(mpi::Context& context, const MeshTables& tables);

}  // namespace barrio::mesh
