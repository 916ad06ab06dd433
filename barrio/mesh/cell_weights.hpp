#pragma once

/// @file Weights of cells, by type and by the values of a tag.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Definition of the weight of a cell: the weight of its type times its value of a tag.
struct CellWeights {
  std::map<CellType, std::int64_t> by_type = {};  ///< >= 0; all other types weigh 1
  std::string tag = {};                           ///< with one number >= 0 on each top cell; empty: no tag
};

/// Compute the weight of each top cell, for `partition_cells`. Collective.
/// Values of an integer tag are taken as they are. Those of a real tag become integers: the largest of all one of 20 to
/// 52 bits, as the sum over all cells has room, and positive ones at least 1.
/// @return in the order of `MeshTables::parts`; empty if `weights` is empty. All 0 is logged: they count as 1 each
/// @throws AgreedError{usage} for a tag that the mesh does not have or that is not one number; {bad_input} for a cell
/// without a value, for a value that is negative or not finite, and for a sum of all weights above 2^62
std::vector<std::int64_t> compute_cell_weights(mpi::Context& context, const MeshTables& tables,
                                               const CellWeights& weights);

}  // namespace barrio::mesh
