#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// What Medit files hold of sets: one number of each vertex and cell, and lists with names that they know.
struct MeditSets {
  /// Rows of a list, in their dimension, ascending.
  struct List {
    std::string name;
    std::vector<std::int64_t> rows = {};
  };
  std::vector<std::vector<std::int32_t>> references;  ///< of this rank's vertices, then of its rows of each block
  std::vector<List> lists;                            ///< the same names on every rank
  std::vector<std::string> lost;                      ///< what has no place, in words; the same on every rank
};

/// Choose references: the id of a material set for cells of the top dimension, of a Neumann set for those below, of a
/// Dirichlet set for vertices; of several the first set counts, and what a set contains has its id too. Collective.
/// Cost: memory O(slab and members of sets on it); one routed exchange of the runs
MeditSets medit_sets(mpi::Context& context, const mesh::MeshTables& tables);

}  // namespace barrio::io::detail
