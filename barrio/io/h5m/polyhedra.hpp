#pragma once

#include <string>

#include "barrio/io/h5m/h5m_ids.hpp"

namespace barrio::io::detail {

/// Turn polyhedra from lists of face ids, as in .h5m files, into closed loops of vertices. Collective.
/// @param tables  with all blocks of the file; nodes of polyhedra are ids of the file
/// @throws AgreedError{bad_input} naming `subject` if a polyhedron has a face that is not in the file
/// Cost: each rank asks the ranks that hold its polyhedra's faces for their vertices
void link_polyhedra(mpi::Context& context, const IdSpace& ids, mesh::MeshTables& tables, const std::string& subject);

}  // namespace barrio::io::detail
