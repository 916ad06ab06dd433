#pragma once

#include <cstdint>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// Elements of one type stored together in a file.
struct ElementRun {
  mesh::CellType type;
  int n_nodes;
  std::int64_t n;
};

/// Make one block, still without nodes, of all runs of a type and number of nodes. Blocks ascend by dimension and type,
/// as in .h5m files. Local. @return index in `tables.blocks` of each run
std::vector<std::int32_t> add_merged_blocks(const mpi::Context& context, mesh::MeshTables& tables,
                                            const std::vector<ElementRun>& runs);

}  // namespace barrio::io::detail
