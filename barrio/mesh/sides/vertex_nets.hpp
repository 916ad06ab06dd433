#pragma once

#include "barrio/mesh/tables.hpp"
#include "barrio/partition/hypergraph.hpp"

namespace barrio::mesh {

/// Build the hypergraph whose vertices are the top cells and whose nets join the cells around each vertex of the mesh.
/// Collective. A net that reaches into k parts is a vertex that k parts have: k - 1 values sent when copies are added
/// up. Nets are held by the homes of their vertices. Cost: each corner of a cell travels once; memory O(n_local).
partition::Hypergraph vertex_nets(mpi::Context& context, const MeshTables& tables);

}  // namespace barrio::mesh
