#pragma once

/// @file Faces of polyhedra, listed in tables.

#include <cstdint>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Tell whether tables have polyhedra, on any rank. Local.
bool has_polyhedra(const MeshTables& tables) noexcept;

/// List all faces of polyhedra: those that the tables lack are added as one more block of polygons, the last.
/// Collective.
/// @return rows (of Dim::face) of the faces of this rank's polyhedra: cell after cell, in the order of their nodes.
/// Neither these nor the tables depend on the rank count
/// Cost: each face travels to the home of its lowest vertex, and a row comes back; memory O(faces of this rank)
std::vector<std::int64_t> list_polyhedron_faces(mpi::Context& context, MeshTables& tables);

}  // namespace barrio::mesh
