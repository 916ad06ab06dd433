#pragma once

#include "barrio/adapt/assembly/from_mesh.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::adapt::detail {

/// Export this rank's part of the adapted mesh: a tetrahedron belongs to the owner of its lowest vertex. Collective.
/// Vertices, cells and listed faces are numbered along a Hilbert curve: their ids do not depend on the distribution.
/// @param imported  consumed. @param[in] neighbours  ranks that see tetrahedra that this one sees, ascending
mesh::LocalMesh export_mesh(mpi::Context& context, Imported&& imported, std::span<const Rank> neighbours,
                            const std::string& held_field);

}  // namespace barrio::adapt::detail
