#pragma once

#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/tables.hpp"
#include "barrio/partition/graph.hpp"

namespace barrio::mesh {

/// Build the graph whose vertices are the top cells and whose edges join cells with a common side. Collective.
/// Rows of the graph are the cells' global ids. Cost: each side travels once to a rank found by hashing its corners,
/// and back; memory O(sides of this rank's cells).
partition::Graph dual_graph(mpi::Context& context, const MeshTables& tables);

/// Count the owned cells of all lower ranks. Collective.
[[nodiscard]] std::int64_t first_row(const Mesh& mesh);

/// Build the dual graph of a mesh. Collective. Rows are the owned cells of rank 0, then those of rank 1 and so on, each
/// in local order. Those of this rank start at `first`, which is `first_row(mesh)`. Cost: all sides (sides.hpp), a
/// round with neighbours, and a routed exchange of the links outside this rank's slab; memory O(sides of this rank's
/// cells). @throws as Sides
partition::Graph dual_graph(const Mesh& mesh, std::int64_t first);

}  // namespace barrio::mesh
