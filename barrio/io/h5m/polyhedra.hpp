#pragma once

#include <string>

#include "barrio/io/h5m/h5m_ids.hpp"

namespace barrio::io::detail {

/// Turn polyhedra as a .h5m file has them, lists of ids of faces, into closed loops of vertices. Collective.
/// @param tables  with all blocks of the file; nodes of polyhedra are ids of the file
/// @throws AgreedError{bad_input} naming `subject` if a polyhedron has a face that is none of the file
/// Cost: each rank asks the homes of its polyhedra's faces for their vertices
void link_polyhedra(mpi::Context& context, const IdSpace& ids, mesh::MeshTables& tables, const std::string& subject);

}  // namespace barrio::io::detail
