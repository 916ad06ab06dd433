#pragma once

/// @file Removal of the sets of geometry, with the faces and edges listed only for them.

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Remove the sets of geometry, and the faces and edges that only these contain. Collective. All that remains keeps its
/// order. A set that contains sets of geometry, such as a material with volumes, gets their entities and their
/// contained sets instead. A set that has another meaning besides geometry loses only the geometry. Faces and edges in
/// no set at all stay, and so do all vertices.
/// @return tables with the same cells, vertices and parts. Tag values that name a removed entity or set become none
/// @throws AgreedError{bad_input} if an ordered set contains sets of geometry, whose entities have no place in its
/// order
/// Cost: faces and edges travel to their new homes; memory O(n_local), and O(sets) on every rank. Does not depend on
/// the rank count.
MeshTables drop_geometry(mpi::Context& context, MeshTables tables);

}  // namespace barrio::mesh
