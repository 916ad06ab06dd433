#pragma once

#include "barrio/mesh/tables.hpp"
#include "barrio/partition/hypergraph.hpp"

namespace barrio::mesh {

/// Build the hypergraph whose vertices are the top cells and whose nets join the cells around each vertex of the mesh.
/// Collective. A net that spans k parts is a mesh vertex shared by k parts: k - 1 values are sent when its copies are
/// summed. Each net is stored at the home of its vertex. Cost: each corner of a cell travels once; memory O(n_local).
partition::Hypergraph vertex_nets(mpi::Context& context, const MeshTables& tables);

}  // namespace barrio::mesh
