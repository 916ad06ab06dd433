#pragma once

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Remove the sets of geometry, and the faces and edges that are in no other set, being listed for these alone.
/// Collective. What is left keeps its order. A set that holds sets of geometry, such as a material that holds
/// volumes, gets their entities and the sets in them instead; a set that means something besides geometry loses the
/// geometry only. Faces and edges that are in no set at all stay, and so do all vertices.
/// @return tables with the same cells, vertices and parts. Tag values that name a removed entity or set become none
/// @throws AgreedError{bad_input} if an ordered set holds sets of geometry, whose entities have no place in its order
/// Cost: faces and edges travel to their new homes; memory O(n_local), and O(sets) on every rank. Does not depend on
/// the rank count.
MeshTables drop_geometry(mpi::Context& context, MeshTables tables);

}  // namespace barrio::mesh
