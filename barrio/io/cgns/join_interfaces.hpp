#pragma once

#include <string>
#include <vector>

#include "barrio/io/cgns/cgns_file.hpp"
#include "barrio/io/common/listed_sides.hpp"
#include "barrio/mesh/tables.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::io::detail {

/// Merge the vertices of zones at the interfaces that the file lists. Collective. The log says what is joined, and what
/// stays open: also interfaces whose vertices lie apart.
/// @param sides  of which the nodes get new rows too
/// @throws AgreedError{bad_input} for lists that name vertices that do not exist
/// Cost: each rank takes its slab of the points of all interfaces; two questions to the homes of vertices per point
void join_interfaces(mpi::Context& context, const std::string& path, files::Place file, const CgnsCatalog& catalog,
                     mesh::MeshTables& tables, std::vector<ListedSide>& sides);

}  // namespace barrio::io::detail
