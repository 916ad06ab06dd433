#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// Set data of a Medit file: one reference for each vertex and cell, and lists with predefined names.
struct MeditSets {
  /// Rows of a list, in their dimension, ascending.
  struct List {
    std::string name;
    std::vector<std::int64_t> rows = {};
  };
  std::vector<std::vector<std::int32_t>> references;  ///< of this rank's vertices, then of its rows of each block
  std::vector<List> lists;                            ///< the same names on every rank
  std::vector<std::string> lost;                      ///< data that Medit cannot hold, in words; the same on every rank
};

/// Choose references: the id of a material set for cells of the top dimension, of a Neumann set for those below, of a
/// Dirichlet set for vertices. Of several sets the first one counts; members of a contained set also have the id of the
/// set around it. Collective.
/// Cost: memory O(slab and members of sets on it); one routed exchange of the runs
MeditSets medit_sets(mpi::Context& context, const mesh::MeshTables& tables);

}  // namespace barrio::io::detail
