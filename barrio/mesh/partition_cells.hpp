#pragma once

#include <string>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// The partitioners that `partition_cells` knows, whether or not this build has them.
std::vector<std::string> partitioner_names();

/// Give each top cell a part. Collective. Fills `tables.parts` and `tables.n_parts`.
/// @param method  "rcb" (by coordinates; the same parts on any rank count), "metis" (graph, on one rank: of the
/// cells, or of clusters made by rcb if there are more than METIS can take; the same on any rank count) or "ptscotch"
/// (graph, parallel; depends on the rank count)
/// @throws AgreedError{usage} for an unknown method or one this build lacks, or n_parts < 1
void partition_cells(mpi::Context& context, MeshTables& tables, int n_parts, const std::string& method = "rcb");

}  // namespace barrio::mesh
