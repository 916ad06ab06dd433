#pragma once

#include "barrio/mesh/tables.hpp"
#include "barrio/partition/graph.hpp"

namespace barrio::mesh {

/// Whether all top cells have sides that barrio knows, so that there is a dual graph. Local.
bool has_dual_graph(const MeshTables& tables);

/// Build the graph whose vertices are the top cells and whose edges join cells with a common side. Collective.
/// Rows of the graph are the cells' global ids. Cost: each side travels once to a rank found by hashing its corners,
/// and back; memory O(sides of this rank's cells).
/// @throws AgreedError{bad_input} where `has_dual_graph` says no
partition::Graph dual_graph(mpi::Context& context, const MeshTables& tables);

}  // namespace barrio::mesh
